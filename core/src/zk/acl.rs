//! Who may do what: access control lists and the identities of a connection.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest as _, Sha1};

use super::java;
use super::op::{Acl, AclList, Error, Release, perms};

/// One identity of a connection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    pub scheme: Arc<str>,
    pub id: Arc<str>,
}

impl Id {
    fn new(scheme: &str, id: &str) -> Id {
        Id { scheme: scheme.into(), id: id.into() }
    }
}

/// The identities of a connection: its address, then what `addAuth` added. Clones share them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identities(Arc<Vec<Id>>);

impl Identities {
    pub fn of_peer(ip: [u8; 4]) -> Identities {
        let [a, b, c, d] = ip;
        Identities(Arc::new(vec![Id::new("ip", &format!("{a}.{b}.{c}.{d}"))]))
    }

    /// `addAuth`. The digest scheme keeps only `user:base64(sha1(user:password))`; the ip scheme
    /// adds nothing that is not there; every other scheme is unknown.
    pub fn authenticate(&mut self, scheme: &str, auth: &[u8]) -> Result<(), Error> {
        match scheme {
            "digest" => {
                let id = Id::new("digest", &digest(&String::from_utf8_lossy(auth)));
                if !self.0.contains(&id) {
                    Arc::make_mut(&mut self.0).push(id);
                }
                Ok(())
            }
            "ip" => Ok(()),
            _ => Err(Error::AuthFailed),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Id> {
        self.0.iter()
    }

    /// Since 3.6 a connection keeps its identities in a hash set of Java, and they come out in its
    /// order.
    pub fn in_order(&self, release: Release) -> Vec<&Id> {
        let mut ids: Vec<&Id> = self.0.iter().collect();
        if release >= Release::V3_8_4 {
            let buckets = java::grown(java::FRESH, ids.len());
            ids.sort_by_key(|id| java::bucket(record_hash(id), buckets));
        }
        ids
    }

    /// The answer to `whoAmI`: a digest shows its user only.
    pub fn shown(&self, release: Release) -> Vec<(Arc<str>, Arc<str>)> {
        let user = |id: &Id| match id.id.split_once(':') {
            Some((user, _)) if &*id.scheme == "digest" => Arc::from(user),
            _ => id.id.clone(),
        };
        self.in_order(release).into_iter().map(|id| (id.scheme.clone(), user(id))).collect()
    }
}

/// The hash that jute generates for a record of two strings.
fn record_hash(id: &Id) -> i32 {
    let hash = 37i32.wrapping_mul(17).wrapping_add(java::string_hash(&id.scheme));
    hash.wrapping_mul(37).wrapping_add(java::string_hash(&id.id))
}

/// `DigestAuthenticationProvider.generateDigest`.
pub fn digest(id_password: &str) -> String {
    let user = id_password.split(':').next().unwrap_or_default();
    format!("{user}:{}", STANDARD.encode(Sha1::digest(id_password.as_bytes())))
}

/// Makes the list that a create or setACL stores: duplicates dropped, `auth` replaced by the
/// identities of the caller that were proven, every other entry checked by its scheme.
pub fn fixup(acl: &[Acl], who: &Identities, release: Release) -> Result<AclList, Error> {
    let (mut list, mut expanded): (Vec<Acl>, Vec<Acl>) = (Vec::new(), Vec::new());
    for (at, entry) in acl.iter().enumerate() {
        if acl[..at].contains(entry) {
            continue;
        }
        match &*entry.scheme {
            "world" if &*entry.id == "anyone" => list.push(entry.clone()),
            "auth" => {
                let before = expanded.len();
                for id in who.in_order(release) {
                    if &*id.scheme == "digest" {
                        let (scheme, id) = (id.scheme.clone(), id.id.clone());
                        expanded.push(Acl { perms: entry.perms, scheme, id });
                    }
                }
                if expanded.len() == before {
                    return Err(Error::InvalidAcl);
                }
                // 3.4.6 puts what it expanded at the end, later releases in place.
                if release != Release::V3_4_6 {
                    list.append(&mut expanded);
                }
            }
            "digest" if is_digest(&entry.id) => list.push(entry.clone()),
            "ip" if is_ip(&entry.id, release) => list.push(entry.clone()),
            _ => return Err(Error::InvalidAcl),
        }
    }
    list.append(&mut expanded);
    if list.is_empty() { Err(Error::InvalidAcl) } else { Ok(list.into()) }
}

/// The rule of `String.split(":")` with two parts: empty parts at the end do not count.
fn is_digest(id: &str) -> bool {
    let mut parts: Vec<&str> = id.split(':').collect();
    while parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    parts.len() == 2
}

/// [spec zookeeper.md E9]
fn is_ip(id: &str, release: Release) -> bool {
    match id.split_once('/') {
        Some(_) if release == Release::V3_4_6 => false,
        _ => address(id).is_some(),
    }
}

/// An address and how many of its bits count.
fn address(text: &str) -> Option<(u32, u32)> {
    let (host, bits) = match text.split_once('/') {
        Some((host, bits)) => (host, bits.parse::<u32>().ok().filter(|bits| *bits <= 32)?),
        None => (text, 32),
    };
    let mut parts = host.split('.').map(|part| part.parse::<u8>().ok());
    let mut value = 0u32;
    for _ in 0..4 {
        value = value << 8 | u32::from(parts.next()??);
    }
    if parts.next().is_some() { None } else { Some((value, bits)) }
}

fn ip_matches(mine: &str, entry: &str) -> bool {
    let (Some((mine, _)), Some((entry, bits))) = (address(mine), address(entry)) else {
        return false;
    };
    let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
    mine & mask == entry & mask
}

/// Whether one of the permissions in `wanted` is granted. An empty list forbids nothing.
pub fn allows(acl: &[Acl], wanted: u32, who: &Identities) -> bool {
    acl.is_empty()
        || acl.iter().filter(|entry| entry.perms & wanted != 0).any(|entry| match &*entry.scheme {
            "world" => &*entry.id == "anyone",
            "ip" => who.iter().any(|id| &*id.scheme == "ip" && ip_matches(&id.id, &entry.id)),
            scheme => who.iter().any(|id| &*id.scheme == scheme && id.id == entry.id),
        })
}

/// [`allows`] as a check in an order of checks.
pub fn check(acl: &[Acl], wanted: u32, who: &Identities) -> Result<(), Error> {
    if allows(acl, wanted, who) { Ok(()) } else { Err(Error::NoAuth) }
}

/// What getACL shows: without ADMIN the secret part of a digest is hidden since 3.5.5.
pub fn shown(acl: &AclList, who: &Identities, release: Release) -> AclList {
    if release == Release::V3_4_6 || allows(acl, perms::ADMIN, who) {
        return acl.clone();
    }
    let hide = |entry: &Acl| match entry.id.split_once(':') {
        Some((user, _)) if &*entry.scheme == "digest" => {
            Acl { id: format!("{user}:x").into(), ..entry.clone() }
        }
        _ => entry.clone(),
    };
    acl.iter().map(hide).collect()
}
