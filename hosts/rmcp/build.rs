//! Hands the version of rmcp that Cargo.lock names to the program.

fn main() {
    println!("cargo:rerun-if-changed=Cargo.lock");
    let lock = std::fs::read_to_string("Cargo.lock").expect("Cargo.lock");
    let mut lines = lock.lines().skip_while(|l| *l != "name = \"rmcp\"");
    let version = lines.nth(1).and_then(|l| l.split('"').nth(1)).expect("the version of rmcp in Cargo.lock");
    println!("cargo:rustc-env=RMCP_VERSION={version}");
}
