//! Installs tools, and describes missing ones.

use crate::file::experiment::{Registry, Tool};
use crate::resolve::{Job, Scope, Sink};

/// Describes why a tool counts as missing, and what to do about it.
pub(super) fn missing(tool: &Tool, tried: bool, why: Option<String>) -> String {
    let name = &tool.name.value;
    if let Some(why) = why {
        return format!("{name} could not be installed: {why}");
    }
    let how = match (&tool.packages, &tool.hint) {
        (Some((Registry::Apt, packages)), _) if !tried => {
            let packages = packages.join(" ");
            format!("run apt-get install {packages}, or add --install")
        }
        (Some((registry, packages)), _) if !tried => {
            format!(
                "--install gets {} from {}",
                packages.join(" "),
                registry.key()
            )
        }
        (Some(_), _) => "its package is installed, but its check still fails".to_string(),
        (None, Some(hint)) => hint.clone(),
        (None, None) => return format!("{name} is missing"),
    };
    format!("{name} is missing ({how})")
}

/// Downloads the named packages, with those of their dependencies that the system lacks, and unpacks them
/// into the folder that is passed as the shell's `$0`. Nothing is installed and none of their scripts is run,
/// so this needs no privileges.
const UNPACK_PACKAGES: &str = "cd \"$0\" \
&& names=$(apt-get --simulate --no-install-recommends install \"$@\" | sed -n 's/^Inst \\([^ ]*\\).*/\\1/p') \
&& apt-get download ${names:-\"$@\"} && for file in *.deb; do dpkg-deb -x \"$file\" . || exit 1; done";

/// Returns the commands that install a tool into its own folder.
pub fn install_jobs(scope: &Scope<'_>, tool: &Tool) -> Vec<Job> {
    let Some((registry, packages)) = &tool.packages else {
        return Vec::new();
    };
    let folder = scope.folders.tool(&tool.name.value);
    let at = |inner: &str| folder.join(inner).display().to_string();
    let path = folder.display().to_string();
    let job = |words: Vec<String>, variables: Vec<(String, String)>| Job {
        words,
        directory: scope.folders.here.clone(),
        variables,
        input: None,
        output: Sink::Null,
        timeout: None,
    };
    let words = |fixed: &str| fixed.split(' ').map(str::to_string).collect::<Vec<_>>();
    let into_folder = |fixed: &str| [words(fixed), vec![path.clone()]].concat();
    match registry {
        Registry::Apt => {
            let unpack = vec![UNPACK_PACKAGES.to_string(), path.clone()];
            let all = [words("sh -c"), unpack, packages.clone()].concat();
            vec![job(all, Vec::new())]
        }
        Registry::Cargo => packages
            .iter()
            .map(|package| {
                let mut all = into_folder("cargo install --locked --root");
                match package.strip_prefix("./") {
                    // This is a crate in the experiment's folder whose dependencies come from the registry.
                    Some(inner) => {
                        let own = scope.folders.here.join(inner).display().to_string();
                        all.extend(["--path".to_string(), own]);
                    }
                    None => all.push(package.clone()),
                }
                let target = ("CARGO_TARGET_DIR".to_string(), at("target"));
                job(all, vec![target])
            })
            .collect(),
        Registry::Npm => {
            let npm = into_folder("npm install --no-audit --no-fund --prefix");
            vec![job([npm, packages.clone()].concat(), Vec::new())]
        }
        Registry::Pypi => {
            let mut pip = vec![at("bin/python")];
            pip.extend(words("-m pip install --disable-pip-version-check"));
            // The file uses `name@version` everywhere; pip requires `name==version`.
            pip.extend(
                packages
                    .iter()
                    .map(|package| package.replacen('@', "==", 1)),
            );
            vec![
                job(into_folder("python3 -m venv"), Vec::new()),
                job(pip, Vec::new()),
            ]
        }
        Registry::Go => packages
            .iter()
            .map(|package| {
                let variables = vec![
                    ("GOPATH".to_string(), path.clone()),
                    ("GOBIN".to_string(), at("bin")),
                    // Without this, Go leaves files that their owner can't remove.
                    ("GOFLAGS".to_string(), "-modcacherw".to_string()),
                ];
                job(
                    [words("go install"), vec![package.clone()]].concat(),
                    variables,
                )
            })
            .collect(),
    }
}
