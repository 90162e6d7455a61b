//! Generates the JavaScript of a module for web pages, as `wasm-bindgen --target web` does.
//!
//! Usage: hushbin-bind MODULE DIRECTORY NAME

use std::env;
use std::error::Error;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [module, directory, name] = arguments.as_slice() else {
        return Err("expected MODULE DIRECTORY NAME".into());
    };
    Bindgen::new()
        .input_path(module)
        .out_name(name)
        .web(true)?
        .typescript(true)
        // Omits `new URL(…, import.meta.url)`, which bundlers would follow.
        .omit_default_module_path(true)
        .reset_state_function(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(directory)?;
    Ok(())
}
