//! What can be done to processes, and the "+" of the stage. HTML over the drawing, so that
//! menus are menus.

use std::sync::Arc;

use kafkascope_core::kafka::TopicPartition;
use kafkascope_core::kafka::real::task::Task;
use kafkascope_core::view::{self, Life, TopicView};
use kafkascope_core::world::{Command, Refusal, Who};
use yew::prelude::*;

use super::Parts;
use super::cells::copies;
use super::layout::{Geo, Level, Rect, text_width};
use super::people::Detail;
use crate::app::{Ctx, use_ctx};
use crate::engine::Engine;
use crate::i18n::{Key, Lang, k, use_lang};
use crate::state::{Dialog, Menu, UiAction};
use crate::widgets::{Icon, Item, MenuButton};
use crate::words;

/// Enter and space choose, as on a button.
pub fn enter(choose: &Callback<()>) -> Callback<KeyboardEvent> {
    let choose = choose.clone();
    Callback::from(move |event: KeyboardEvent| {
        if matches!(event.key().as_str(), "Enter" | " ") {
            event.prevent_default();
            event.stop_propagation();
            choose.emit(());
        }
    })
}

#[derive(PartialEq, Properties)]
pub struct MenusProps {
    pub parts: Parts,
    pub menu: Option<Menu>,
}

#[component]
pub fn Menus(props: &MenusProps) -> Html {
    let lang = use_lang();
    let ctx = use_ctx();
    let parts = &props.parts;
    let (geo, view) = (&parts.geo, &parts.scene.view);
    let dense = geo.level == Level::Dense;
    let brokers =
        view.brokers.iter().zip(&geo.cols).filter(|_| !dense).filter_map(|(broker, rect)| {
            if rect.w < if geo.narrow { 56.0 } else { 84.0 } {
                return None;
            }
            let who = match broker.impostor {
                true => Who::Machine(broker.id, broker.host.clone()),
                false => Who::Broker(broker.id),
            };
            let twin = if broker.impostor { "-b" } else { "" };
            let at = match geo.narrow {
                // No room for a button of its own: the whole head opens the menu.
                true => (rect.x, rect.y),
                false => (rect.right() - 68.0, rect.y + 2.0),
            };
            let target = Target {
                proc: broker.proc,
                who,
                testid: format!("broker-{}{twin}-menu", broker.id),
                down: broker.life == Life::Down,
                cut: broker.cut,
                at,
                cover: geo.narrow.then_some((rect.w, geo.head)),
            };
            Some(process(lang, &ctx, target, &props.menu, geo.w))
        });
    let people = clients(parts).chain(people(parts));
    let people = people.map(|target| process(lang, &ctx, target, &props.menu, geo.w));
    let with_groups = view.release.is_none_or(|release| !release.groups_by_coordinator());
    let topics = geo.titles.iter().filter_map(|(index, y)| {
        let one = view.topics.get(*index)?;
        Some(topic(lang, &ctx, geo, topic_place(geo, *index, *y), one, &props.menu))
    });
    html! {
        <>
            {for brokers}
            {for people}
            {for topics.filter(|_| !dense)}
            {ghost(lang, &ctx, "add-broker", geo.add_broker, k::ADD_BROKER,
                Dialog::AddBroker, geo.narrow)}
            {ghost(lang, &ctx, "add-topic", geo.add_topic, k::ADD_TOPIC, Dialog::CreateTopic, true)}
            if with_groups {
                {ghost(lang, &ctx, "add-producer", geo.people.add_producer, k::ADD_PRODUCER,
                    Dialog::AddProducer, true)}
                {ghost(lang, &ctx, "add-consumer", geo.people.add_consumer, k::ADD_CONSUMER,
                    Dialog::AddConsumer(None), true)}
            }
            {ghost(lang, &ctx, "add-client", geo.add_client, k::ADD_CLIENT,
                Dialog::OpenClient, true)}
        </>
    }
}

/// Plain clients of ZooKeeper.
fn clients(parts: &Parts) -> impl Iterator<Item = Target> {
    let shown = parts.scene.view.clients.iter().zip(&parts.geo.clients);
    shown.map(|(client, rect)| Target {
        proc: client.proc,
        who: Who::Client(client.name.clone()),
        testid: format!("client-{}-menu", client.name),
        down: client.life == Life::Down,
        cut: client.cut,
        at: (rect.right() - 62.0, rect.y + 7.0),
        cover: None,
    })
}

/// Members and producers, where a card has room for a button.
fn people(parts: &Parts) -> Vec<Target> {
    let (people, groups) = (&parts.geo.people, &parts.scene.groups);
    let mut targets = Vec::new();
    let tiles = people.detail == Detail::Tile;
    for geo in people.members.iter().filter(|_| !tiles) {
        let group = groups.groups.get(geo.group);
        let Some(member) = group.and_then(|group| group.members.get(geo.member)) else { continue };
        let Some(proc) = member.proc else { continue };
        let y = if parts.geo.narrow { 2.0 } else { 2.0_f64.min((geo.rect.h - 26.0) / 2.0) };
        targets.push(Target {
            proc,
            who: Who::Consumer(member.name.clone()),
            testid: format!("member-{}-menu", member.name),
            down: member.life == Life::Down,
            cut: member.cut,
            at: (geo.rect.right() - 54.0, geo.rect.y + y),
            cover: None,
        });
    }
    for (producer, rect) in groups.producers.iter().zip(&people.producers) {
        targets.push(Target {
            proc: producer.proc,
            who: Who::Producer(producer.name.clone()),
            testid: format!("producer-{}-menu", producer.name),
            down: producer.life == Life::Down,
            cut: producer.cut,
            at: (rect.right() - 54.0, rect.y + 4.0),
            cover: None,
        });
    }
    targets
}

fn ghost(
    lang: Lang,
    ctx: &Ctx,
    testid: &'static str,
    rect: Rect,
    key: Key,
    dialog: Dialog,
    words: bool,
) -> Html {
    let ctx = ctx.clone();
    let onclick =
        Callback::from(move |_: MouseEvent| ctx.act(UiAction::OpenDialog(dialog.clone())));
    let style =
        format!("left:{}px;top:{}px;width:{}px;height:{}px", rect.x, rect.y, rect.w, rect.h);
    let label = lang.t(key);
    html! {
        <button type="button" class="ghost" {style} {onclick} data-testid={testid}
            aria-label={label.clone()} title={(!words).then_some(label.clone())}>
            <Icon name="plus" small=true />
            if words { <span>{label}</span> }
        </button>
    }
}

/// Where a topic's menu stands: right behind its name, or under the first one's.
fn topic_place(geo: &Geo, index: usize, y: f64) -> (f64, f64) {
    match (geo.narrow, index) {
        (true, 0) => (12.0, geo.zk.bottom()),
        (true, _) => (12.0, y - 17.0),
        (false, 0) => (geo.gutter.x + geo.gutter.w / 2.0 - 13.0, y + 16.0),
        (false, _) => (geo.gutter.x + geo.gutter.w - 20.0, y - 17.0),
    }
}

/// Beside the topic's name: what can be done to it.
fn topic(
    lang: Lang,
    ctx: &Ctx,
    geo: &Geo,
    (x, y): (f64, f64),
    topic: &TopicView,
    menu: &Option<Menu>,
) -> Html {
    let name = &topic.name;
    let id = Menu::Topic(name.clone());
    let act = |action: UiAction| {
        let ctx = ctx.clone();
        Callback::from(move |()| ctx.act(action.clone()))
    };
    let open = menu.as_ref() == Some(&id);
    // What an entry needs to know costs a look at everything: nobody sees it in a closed menu.
    let items = if open { topic_items(lang, ctx, topic) } else { Vec::new() };
    let label = lang.fill(k::STAGE_MENU, &[("who", name)]);
    let title = lang.fill(k::TIP_RF, &[("name", name), ("n", &topic.replication)]);
    let shown = format!("{name} · {}", copies(lang, topic));
    let right = geo.narrow && text_width(&shown, 12.0) > geo.w - 240.0;
    html! {
        <div key={format!("topic-{name}")} style={format!("left:{x}px;top:{y}px")}
            class={classes!("stage-menu", geo.narrow.then_some("named"))}>
            if geo.narrow { <b {title}>{shown}</b> }
            <MenuButton testid={format!("topic-{name}-menu")} class="btn quiet icon more" {open}
                {items} label={AttrValue::from(label)} {right}
                toggle={act(UiAction::ToggleMenu(id))} close={act(UiAction::CloseMenu)}>
                <Icon name="more" small=true />
            </MenuButton>
        </div>
    }
}

fn topic_items(lang: Lang, ctx: &Ctx, topic: &TopicView) -> Vec<Item> {
    let name = &topic.name;
    let refused = ctx.engine.check(&Command::DeleteTopic { topic: name.clone() }).err();
    let choose = {
        let (ctx, name) = (ctx.clone(), name.clone());
        Callback::from(move |()| {
            ctx.act(UiAction::OpenDialog(Dialog::DeleteTopic(name.clone())));
        })
    };
    let delete = Item {
        icon: Some("kill"),
        danger: true,
        disabled: refused.map(|why| words::refusal(lang, &why).into()),
        ..Item::new("delete", lang.t(k::ACT_DELETE_TOPIC), choose)
    };
    let mut items = Vec::new();
    if ctx.engine.read(view::release).is_some() {
        items.extend(administrate(lang, ctx, topic));
    }
    items.push(delete);
    items
}

/// What only real releases know.
fn administrate(lang: Lang, ctx: &Ctx, topic: &TopicView) -> [Item; 4] {
    let name = &topic.name;
    let dialog = |dialog: Dialog| {
        let ctx = ctx.clone();
        Callback::from(move |()| ctx.act(UiAction::OpenDialog(dialog.clone())))
    };
    let named = topic
        .partitions
        .iter()
        .map(|partition| TopicPartition { topic: name.clone(), partition: partition.number });
    let task = Task::ElectPreferred { partitions: Some(named.collect()) };
    let elect = Command::Admin(Arc::new(task));
    [
        Item {
            icon: Some("plus"),
            ..Item::new(
                "add-partitions",
                lang.t(k::ACT_ADD_PARTITIONS),
                dialog(Dialog::AddPartitions(name.clone())),
            )
        },
        Item {
            icon: Some("restart"),
            ..Item::new("reassign", lang.t(k::ACT_REASSIGN), dialog(Dialog::Reassign(name.clone())))
        },
        Item {
            icon: Some("book"),
            ..Item::new(
                "alter-config",
                lang.t(k::ACT_ALTER_CONFIG),
                dialog(Dialog::AlterConfig(name.clone())),
            )
        },
        Item {
            note: Some(lang.t(k::ACT_ELECT_NOTE)),
            ..command(lang, &ctx.engine, "elect", "star", k::ACT_ELECT, elect)
        },
    ]
}

struct Target {
    proc: u16,
    who: Who,
    testid: String,
    down: bool,
    cut: bool,
    at: (f64, f64),
    /// The size of a button that lies over the process's head.
    cover: Option<(f64, f64)>,
}

fn process(lang: Lang, ctx: &Ctx, target: Target, menu: &Option<Menu>, w: f64) -> Html {
    let id = Menu::Proc(target.proc);
    let open = menu.as_ref() == Some(&id);
    let act = |action: UiAction| {
        let ctx = ctx.clone();
        Callback::from(move |()| ctx.act(action.clone()))
    };
    let items = match open {
        true => items(lang, ctx, &target),
        false => Vec::new(),
    };
    let (x, y) = target.at;
    let label = lang.fill(k::STAGE_MENU, &[("who", &words::who(lang, &target.who))]);
    let class = if target.cover.is_some() { "cover" } else { "btn quiet icon more" };
    let size = target.cover.map_or_else(String::new, |(w, h)| format!(";width:{w}px;height:{h}px"));
    html! {
        <div class="stage-menu" key={target.proc} style={format!("left:{x}px;top:{y}px{size}")}>
            <MenuButton testid={target.testid} {class} {open} {items}
                label={AttrValue::from(label)} right={x > w - 240.0}
                toggle={act(UiAction::ToggleMenu(id))} close={act(UiAction::CloseMenu)}>
                <Icon name="more" small=true />
            </MenuButton>
        </div>
    }
}

fn items(lang: Lang, ctx: &Ctx, target: &Target) -> Vec<Item> {
    let engine = &ctx.engine;
    let who = &target.who;
    let mut items = Vec::new();
    let start = match who {
        Who::Broker(id) => Command::StartBroker { id: *id, host: None, rack: None },
        Who::Machine(id, host) => {
            Command::StartBroker { id: *id, host: Some(host.clone()), rack: None }
        }
        Who::Client(name) => Command::OpenClient { name: name.clone(), timeout_ms: None },
        Who::Consumer(_) | Who::Producer(_) => Command::Restart(who.clone()),
        Who::ZooKeeper => Command::StartZooKeeper,
    };
    if target.down {
        items.push(command(lang, engine, "start", "power", k::ACT_START, start));
    } else {
        items.push(Item {
            danger: true,
            note: Some(lang.t(k::ACT_KILL_NOTE)),
            ..command(lang, engine, "kill", "kill", k::ACT_KILL, Command::Kill(who.clone()))
        });
        items.push(Item {
            note: Some(lang.t(k::ACT_STOP_NOTE)),
            ..command(lang, engine, "stop", "stop", k::ACT_STOP, Command::Stop(who.clone()))
        });
    }
    items.extend(of_client(lang, ctx, who, target.down));
    items.push(pause(lang, ctx, who));
    items.push(command(
        lang,
        engine,
        "restart",
        "restart",
        k::ACT_RESTART,
        Command::Restart(who.clone()),
    ));
    let expire = Command::Expire(who.clone());
    items.push(Item {
        note: Some(lang.t(k::ACT_EXPIRE_NOTE)),
        ..command(lang, engine, "expire", "session", k::ACT_EXPIRE, expire)
    });
    items.extend(from_controller(lang, engine, who));
    if let Who::Broker(_) = who {
        items.push(Item {
            note: Some(lang.t(k::ACT_ROLL_NOTE)),
            ..command(lang, engine, "roll", "restart", k::ACT_ROLL, Command::RollBrokers)
        });
    }
    items.push(match target.cut {
        true => command(lang, engine, "heal", "link", k::ACT_HEAL, Command::Heal(who.clone())),
        false => command(lang, engine, "cut", "cut", k::ACT_CUT, Command::Cut(who.clone())),
    });
    let slow = ctx.engine.read(|lab| {
        let world = lab.world();
        let index = world.find(who);
        index.is_some_and(|index| {
            let link = world.links.get(index, kafkascope_core::world::proc::ZOOKEEPER);
            link.extra > kafkascope_core::base::Span::ZERO
        })
    });
    let (key, ms) = if slow { (k::ACT_UNDELAY, 0) } else { (k::ACT_DELAY, 500) };
    let by = kafkascope_core::base::Span::from_millis(ms);
    let delay = Command::DelayLink { a: who.clone(), b: Who::ZooKeeper, by };
    items.push(command(lang, engine, "delay", "hold", key, delay));
    items
}

/// What only consumers and producers do.
fn of_client(lang: Lang, ctx: &Ctx, who: &Who, down: bool) -> Vec<Item> {
    if down {
        return Vec::new();
    }
    let dialog = |id, icon, key, dialog: Dialog| {
        let ctx = ctx.clone();
        let open = Callback::from(move |()| ctx.act(UiAction::OpenDialog(dialog.clone())));
        Item { icon: Some(icon), ..Item::new(id, lang.t(key), open) }
    };
    match who {
        Who::Producer(name) => {
            vec![dialog("produce", "msg", k::ACT_PRODUCE, Dialog::Produce(name.clone()))]
        }
        Who::Consumer(name) => {
            let tune = |id, key, value: u32| {
                let (name, setting) = (name.clone(), "processing.us".into());
                let value = value.to_string().into();
                let tune = Command::Tune { consumer: name, name: setting, value };
                command(lang, &ctx.engine, id, "session", key, tune)
            };
            let commit = Command::Commit { consumer: name.clone() };
            vec![
                command(lang, &ctx.engine, "commit", "check", k::ACT_COMMIT, commit),
                tune("slow", k::ACT_SLOW, 200_000),
                tune("fast", k::ACT_FAST, 0),
                dialog("tune", "session", k::ACT_TUNE, Dialog::Tune(name.clone())),
            ]
        }
        _ => Vec::new(),
    }
}

/// Cuts a broker from the acting controller only, or heals that link.
fn from_controller(lang: Lang, engine: &Engine, who: &Who) -> Option<Item> {
    let Who::Broker(id) = who else { return None };
    let acting = engine.read(|lab| {
        let brokers = view::stage(lab).brokers;
        let acts = |broker: &&view::BrokerView| {
            broker.controller.is_some_and(|acting| acting.holds_office)
        };
        brokers.iter().find(acts).map(|broker| broker.id)
    });
    let acting = acting.filter(|acting| acting != id)?;
    let (a, b) = (who.clone(), Who::Broker(acting));
    let cut = Command::CutPeers { a: a.clone(), b: b.clone() };
    match engine.check(&cut) {
        Err(Refusal::AlreadyCut(_)) => {
            let heal = Command::HealPeers { a, b };
            Some(command(lang, engine, "heal-controller", "link", k::ACT_HEAL_CONTROLLER, heal))
        }
        _ => Some(command(lang, engine, "cut-controller", "cut", k::ACT_CUT_CONTROLLER, cut)),
    }
}

fn pause(lang: Lang, ctx: &Ctx, who: &Who) -> Item {
    let span = kafkascope_core::base::Span::from_secs(1);
    let refused = ctx.engine.check(&Command::Pause { who: who.clone(), span }).err();
    let choose = {
        let (ctx, who) = (ctx.clone(), who.clone());
        Callback::from(move |()| ctx.act(UiAction::OpenDialog(Dialog::Pause(who.clone()))))
    };
    Item {
        icon: Some("hold"),
        note: Some(lang.t(k::ACT_PAUSE_NOTE)),
        disabled: refused.map(|why| words::refusal(lang, &why).into()),
        ..Item::new("pause", lang.t(k::ACT_PAUSE), choose)
    }
}

/// An entry that gives a command; greyed with the reason if it can't be done now.
fn command(
    lang: Lang,
    engine: &Engine,
    id: &'static str,
    icon: &'static str,
    key: Key,
    command: Command,
) -> Item {
    let refused = engine.check(&command).err();
    let command = Arc::new(command);
    let choose = {
        let engine = engine.clone();
        Callback::from(move |()| {
            // What is refused in the meantime shows greyed the next time.
            let _ = engine.submit((*command).clone());
        })
    };
    Item {
        icon: Some(icon),
        disabled: refused.map(|why| words::refusal(lang, &why).into()),
        ..Item::new(id, lang.t(key), choose)
    }
}
