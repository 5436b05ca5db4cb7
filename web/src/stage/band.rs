//! ZooKeeper's band: a box a folder, a chip a node, an eye for its watchers.

use kafkascope_core::view::ChipGroup;
use kafkascope_core::view::stage::Chip;
use yew::prelude::*;

use super::layout::{GroupGeo, Rect, chip_text};
use super::{PartProps, Parts};
use crate::app::use_ctx;
use crate::i18n::{Lang, k, use_lang};
use crate::state::{Selected, UiAction};

#[component]
pub fn Band(props: &PartProps) -> Html {
    let lang = use_lang();
    let ctx = use_ctx();
    let parts = &props.parts;
    let (zk, geo) = (&parts.scene.view.zookeeper, &parts.geo);
    let pick = Callback::from(move |path: kafkascope_core::zk::op::Path| {
        ctx.act(UiAction::Select(Selected::Znode(path)));
    });
    let up = if zk.up { k::STAGE_ZK_SUB } else { k::STAGE_ZK_DOWN };
    let zxid = format!("0x{:x}", zk.last_zxid);
    let sub = lang.fill(up, &[("n", &zk.sessions), ("zxid", &zxid)]);
    let left = geo.zk.x + 14.0;
    html! {
        <g class={classes!("zkband", (!zk.up).then_some("down"))} data-testid="zookeeper">
            <rect x={geo.zk.x.to_string()} y={geo.zk.y.to_string()}
                width={geo.zk.w.to_string()} height={geo.zk.h.to_string()} rx="12" class="zk" />
            <text x={left.to_string()} y="32" class="zkt">
                {"ZooKeeper"}<tspan dx="10" class="zks">{sub}</tspan>
            </text>
            {for zk.groups.iter().zip(&geo.groups).enumerate().map(|(index, (group, place))| {
                folder(lang, parts, index, group, place, &pick)
            })}
        </g>
    }
}

type Pick = Callback<kafkascope_core::zk::op::Path>;

fn folder(
    lang: Lang,
    parts: &Parts,
    index: usize,
    group: &ChipGroup,
    place: &GroupGeo,
    pick: &Pick,
) -> Html {
    let rect = place.rect;
    let scene = &parts.scene;
    let made: Vec<Html> = group
        .chips
        .iter()
        .zip(&place.chips)
        .map(|(one, (x, w))| {
            let text = chip_text(lang, one, place.counts);
            chip(lang, parts, one, text, Rect::new(rect.x + x, rect.y + 23.0, *w, 24.0), pick)
        })
        .collect();
    let pending = scene.pending.iter().filter(|(at, _)| *at == index);
    let pending = pending.map(|(_, name)| ("pending", name.as_str()));
    let ghosts = scene.ghosts(index).map(|name| ("gone", name));
    let rest = place.chips.iter().skip(group.chips.len());
    let shadows: Vec<Html> = pending
        .chain(ghosts)
        .zip(rest)
        .map(|((class, name), (x, w))| {
            shadow(lang, class, name, Rect::new(rect.x + x, rect.y + 23.0, *w, 24.0))
        })
        .collect();
    let after = place.chips.last().map_or(rect.x + 9.0, |(x, w)| rect.x + x + w + 6.0);
    let path = group.path.clone();
    let open = {
        let (pick, path) = (pick.clone(), path.clone());
        Callback::from(move |_: MouseEvent| pick.emit(path.clone()))
    };
    html! {
        <g key={&*group.path} data-testid={format!("zk-group-{}", group.path)}>
            <rect x={rect.x.to_string()} y={rect.y.to_string()} width={rect.w.to_string()}
                height={rect.h.to_string()} rx="7" class="zbox" />
            <text x={(rect.x + 9.0).to_string()} y={(rect.y + 17.0).to_string()} class="zpath"
                onclick={open}>{&*path}</text>
            {eye(lang, parts, group, rect.x + place.eye, rect.y + 13.0)}
            {for made}
            {for shadows}
            if place.more > 0 {
                <text x={after.to_string()} y={(rect.y + 39.0).to_string()} class="zval">
                    {format!("+{}", place.more)}
                </text>
            }
            if let Some(epoch) = scene.epoch.filter(|_| &*group.path == "/controller") {
                <text x={after.to_string()} y={(rect.y + 39.0).to_string()} class="zval">
                    {lang.fill(k::STAGE_EPOCH, &[("n", &epoch)])}
                </text>
            }
        </g>
    }
}

fn eye(lang: Lang, parts: &Parts, group: &ChipGroup, x: f64, y: f64) -> Html {
    let fires = parts.scene.firing.contains(&group.path);
    if group.watchers == 0 && !fires {
        return Html::default();
    }
    let label = lang.fill(k::STAGE_WATCHERS, &[("n", &group.watchers)]);
    html! {
        <g class={classes!("eye", fires.then_some("fire"))} role="img" aria-label={label.clone()}
            data-testid={format!("eye-{}", group.path)}>
            <title>{label}</title>
            <circle cx={(x + 7.0).to_string()} cy={y.to_string()} r="11" class="glow" />
            <use href="#i-eye" x={x.to_string()} y={(y - 7.0).to_string()} width="14"
                height="14" class="ics" />
            <text x={(x + 18.0).to_string()} y={(y + 4.0).to_string()} class="eyet">
                {group.watchers}
            </text>
        </g>
    }
}

fn chip(lang: Lang, parts: &Parts, chip: &Chip, text: String, at: Rect, pick: &Pick) -> Html {
    let title = match chip.count {
        Some(n) => lang.fill(k::CHIP_LEADS_WHY, &[("id", &chip.label), ("n", &n)]),
        None => chip.path.to_string(),
    };
    let selected = matches!(&parts.selected, Some(Selected::Znode(path)) if *path == chip.path);
    let class = classes!(
        "zc",
        if chip.ephemeral { "eph" } else { "per" },
        chip.owner_dead.then_some("stale"),
        parts.scene.changed.contains(&chip.path).then_some("chg"),
        selected.then_some("sel"),
    );
    let choose = {
        let (pick, path) = (pick.clone(), chip.path.clone());
        Callback::from(move |()| pick.emit(path.clone()))
    };
    let onkeydown = super::menus::enter(&choose);
    html! {
        <g key={&*chip.path} {class} tabindex="0" role="button" aria-label={chip.path.to_string()}
            data-testid={format!("zk-chip-{}", chip.path)}
            onclick={choose.reform(|_: MouseEvent| ())} {onkeydown}>
            <title>{title}</title>
            <rect x={at.x.to_string()} y={at.y.to_string()} width={at.w.to_string()}
                height="24" rx="5" />
            <text x={(at.x + at.w / 2.0).to_string()} y={(at.y + 16.0).to_string()}
                text-anchor="middle" class="zct">{text}</text>
        </g>
    }
}

/// A node that is being created, or that went just now.
fn shadow(lang: Lang, class: &'static str, name: &str, at: Rect) -> Html {
    let Rect { x, y, w, .. } = at;
    let text = if name.starts_with('/') { "–" } else { name };
    let title = lang.t(if class == "gone" { k::CHIP_GONE } else { k::CHIP_PENDING });
    html! {
        <g class={classes!("zc", class)} aria-hidden="true">
            <title>{title}</title>
            <rect x={x.to_string()} y={y.to_string()} width={w.to_string()} height="24" rx="5" />
            <text x={(x + w / 2.0).to_string()} y={(y + 16.0).to_string()} text-anchor="middle"
                class="zct">{text.to_owned()}</text>
            if class == "gone" {
                <path d={format!("M{} {}h{}", x + 4.0, y + 12.0, w - 8.0)} class="strike" />
            }
        </g>
    }
}
