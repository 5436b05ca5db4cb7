//! What the test needs from the machine: Java, a compiler, Maven, and the jars of one release.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use kafkascope_core::zk::op::Release;

/// How to start the Java process of one release.
#[derive(Clone, Debug)]
pub struct Tools {
    pub class_path: String,
    /// Where its servers keep their data.
    pub work: PathBuf,
}

/// The binding that keeps the server's log quiet must fit the log interface of the release.
const fn slf4j(release: Release) -> &'static str {
    if matches!(release, Release::V3_9_5) { "2.0.13" } else { "1.7.36" }
}

/// What was prepared before, for the tests of one program run side by side.
static PREPARED: Mutex<BTreeMap<Release, Result<Tools, String>>> = Mutex::new(BTreeMap::new());

/// Finds or makes everything. The error is the reason for which the test can't run.
pub fn prepare(release: Release, work: &Path) -> Result<Tools, String> {
    let mut prepared = PREPARED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    prepared.entry(release).or_insert_with(|| make(release, work)).clone()
}

fn make(release: Release, work: &Path) -> Result<Tools, String> {
    for (tool, asked) in [("java", "-version"), ("javac", "-version"), ("mvn", "-version")] {
        run(Command::new(tool).arg(asked)).map_err(|_| format!("{tool} is missing"))?;
    }
    let folder = work.join(release.name());
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let jars = jars(release, &folder)?;
    let classes = folder.join("classes");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle/Oracle.java");
    let mut compiler = Command::new("javac");
    compiler.arg("-nowarn").arg("-d").arg(&classes).args(["-cp", &jars]).arg(&source);
    run(&mut compiler).map_err(|why| format!("{} does not compile: {why}", source.display()))?;
    Ok(Tools { class_path: format!("{}:{jars}", classes.display()), work: folder })
}

/// The class path as Maven resolves it. It is kept as long as all that it names is there.
fn jars(release: Release, folder: &Path) -> Result<String, String> {
    let (pom, list) = (folder.join("pom.xml"), folder.join("class-path.txt"));
    let wanted = project(release);
    let is_there = |path: &String| path.split(':').all(|jar| Path::new(jar).is_file());
    if fs::read_to_string(&pom).is_ok_and(|kept| kept == wanted)
        && let Some(kept) = fs::read_to_string(&list).ok().filter(is_there)
    {
        return Ok(kept);
    }
    fs::write(&pom, &wanted).map_err(|error| format!("{}: {error}", pom.display()))?;
    let maven = |offline: bool| {
        let mut maven = Command::new("mvn");
        maven.current_dir(folder).args(["-q", "-B"]).args(offline.then_some("-o"));
        maven.arg("dependency:build-classpath");
        run(maven.arg(format!("-Dmdep.outputFile={}", list.display())))
    };
    // What is in the local repository needs no network.
    maven(true)
        .or_else(|_| maven(false))
        .map_err(|why| format!("Maven does not get ZooKeeper {}: {why}", release.name()))?;
    fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))
}

/// The server, a log binding that says nothing, and two libraries that the server's own project
/// leaves to whoever runs it.
fn project(release: Release) -> String {
    let dependency = |group: &str, artifact: &str, version: &str, more: &str| {
        format!(
            "<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>\
             <version>{version}</version>{more}</dependency>\n"
        )
    };
    let without = |group: &str, artifact: &str| {
        format!(
            "<exclusion><groupId>{group}</groupId><artifactId>{artifact}</artifactId></exclusion>"
        )
    };
    let exclusions = format!(
        "<exclusions>{}{}{}</exclusions>",
        without("ch.qos.logback", "*"),
        without("io.netty", "netty-tcnative-boringssl-static"),
        without("org.slf4j", "slf4j-log4j12"),
    );
    let dependencies = [
        dependency("org.apache.zookeeper", "zookeeper", release.name(), &exclusions),
        dependency("org.slf4j", "slf4j-nop", slf4j(release), ""),
        dependency("io.dropwizard.metrics", "metrics-core", "4.1.12.1", ""),
        dependency("org.xerial.snappy", "snappy-java", "1.1.10.5", ""),
    ];
    format!(
        "<project>\n<modelVersion>4.0.0</modelVersion>\n<groupId>kafkascope</groupId>\n\
         <artifactId>oracle</artifactId>\n<version>1</version>\n<dependencies>\n{}\
         </dependencies>\n</project>\n",
        dependencies.concat()
    )
}

/// Runs a tool to its end; the error is the last line that it had to say.
fn run(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let telling = said.lines().find(|line| line.contains("ERROR") || line.contains("error:"));
    Err(telling.or_else(|| said.lines().last()).unwrap_or("it fails").trim().into())
}
