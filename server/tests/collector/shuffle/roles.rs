//! The way from pages to estimates, and refusals on it.

use super::*;

/// Full batches are sent, counted once, and deleted by the shuffler. The estimates equal those of
/// the same reports in clear.
#[test]
fn sealed_reports_are_shuffled_sent_and_counted_once() {
    let world = World::new();
    let analyser = world.analyser();
    let (shuffler, address) = world.shuffler(50);
    let mut sealer = world.sealer(address, 1);
    let mut uploads = Uploads::new(&world.task, 1);
    let made: Vec<Upload> = (0..50).map(|number| uploads.make(1 + number % 5)).collect();
    let mut client = Client::connect(address).unwrap();
    for upload in &made {
        let bytes = world.seal(&mut sealer, upload);
        // A page without an answer sends the upload again.
        for status in [201, 200] {
            let (found, body) = client.post("settings", &bytes).unwrap();
            assert_eq!(found, status, "{}", String::from_utf8_lossy(&body));
        }
    }
    // 150 reports are in batches of 50 to 54.
    let token = world.token("shuffled");
    let batches = || ask(address, &token, "GET /tasks/settings/batches").1["batches"].clone();
    until(|| {
        let batches = batches();
        let mut all = batches.as_array().unwrap().iter();
        all.all(|batch| batch["state"] == "open" || batch["reports_kept"] == false)
    });
    let sent: u64 = batches()
        .as_array()
        .unwrap()
        .iter()
        .filter(|batch| batch["state"] != "open")
        .map(|batch| batch["reports"].as_u64().unwrap())
        .sum();
    assert!(sent >= 100, "{sent}");
    let mut covered = 0;
    let in_batches = made.iter().take_while(|upload| {
        covered += upload.reports.len() as u64;
        covered <= sent
    });
    let expected = expected(&world.task, in_batches);
    assert_eq!(expected["reports"], sent);
    assert_eq!(world.estimates(sent), expected);

    // n is the smallest batch that was shuffled, not the batch in which the analyser released all
    // of them.
    let token = world.token("analysed");
    let (status, privacy) = ask(world.analyser, &token, "GET /tasks/settings/privacy");
    assert_eq!(status, 200, "{privacy}");
    let sizes = batches();
    let sizes = sizes
        .as_array()
        .unwrap()
        .iter()
        .filter(|batch| batch["state"] != "open");
    let least = sizes.map(|batch| batch["reports"].as_u64().unwrap()).min();
    assert_eq!(privacy["smallest_batch"].as_u64(), least);
    assert_eq!(privacy["shuffled_by"].as_array().unwrap().len(), 1);
    let said = privacy["shuffled_statement"].as_str().unwrap();
    assert!(
        said.contains("sealed to this analyser, and shuffled by"),
        "{said}"
    );
    drop((shuffler, analyser));
}

/// A journal belongs to the role that created it.
#[test]
fn each_role_does_its_own() {
    let world = World::new();
    let analyser = world.analyser();
    let (shuffler, address) = world.shuffler(50);
    let sealed = world.seal(
        &mut world.sealer(address, 1),
        &Uploads::new(&world.task, 1).make(1),
    );
    let clear = Uploads::new(&world.task, 1).bytes(1);
    let slug = |answer: (u16, Vec<u8>)| {
        let body: Value = serde_json::from_slice(&answer.1).unwrap();
        (
            answer.0,
            body["type"].as_str().unwrap_or_default().to_owned(),
        )
    };
    let problem = |status: u16, name: &str| (status, format!("urn:hushbin:problem:{name}"));
    let mut at_shuffler = Client::connect(address).unwrap();
    let mut at_analyser = Client::connect(world.analyser).unwrap();
    // Each role refuses the uploads of the other.
    assert_eq!(
        slug(at_shuffler.post("settings", &clear).unwrap()),
        problem(400, "malformed-upload")
    );
    for bytes in [&sealed, &clear] {
        let answer = slug(at_analyser.post("settings", bytes).unwrap());
        assert_eq!(answer, problem(404, "other-role"));
    }
    for path in ["estimates", "heavy-hitters", "privacy", "influence"] {
        let answer = slug(at_shuffler.get(&format!("/tasks/settings/{path}")).unwrap());
        assert_eq!(answer, problem(404, "other-role"));
    }
    assert_eq!(
        slug(at_shuffler.get("/dashboard/").unwrap()),
        problem(404, "other-role")
    );
    let (status, metrics) = at_shuffler.get("/metrics").unwrap();
    assert_eq!(status, 200);
    assert!(!metrics.is_empty());
    drop((shuffler, analyser));

    for (data, role) in [("shuffled", "shuffler"), ("analysed", "analyser")] {
        let data = world.text(data);
        let refused = hushbin(&["serve", "--data", &data, "--listen", "127.0.0.1:0"]);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(
            !refused.status.success()
                && said.contains(&format!("stored with --role {role}, expected collector")),
            "{said}"
        );
    }
}

#[test]
fn doctor_asks_the_analyser_for_the_keys_of_each_task() {
    let world = World::new();
    create_journal(&world.path("shuffled"));
    let found_with = |task: &str, public: &str, key: &str| {
        let [data, task, public, key] =
            ["shuffled", task, public, key].map(|name| world.text(name));
        let analyser = format!("http://{}", world.analyser);
        let output = hushbin(&[
            "doctor",
            "--role",
            "shuffler",
            "--data",
            &data,
            "--task",
            &task,
            "--analyser",
            &analyser,
            "--analyser-key",
            &public,
            "--signing-key",
            &key,
        ]);
        let said = String::from_utf8(output.stdout).unwrap();
        let line = said.lines().find(|line| line.contains(" analyser: "));
        line.unwrap_or_else(|| panic!("{said}")).to_owned()
    };
    let found = |task: &str| found_with(task, "analyser.pub", "shuffler.pem");
    let lost = found("task.json");
    assert!(
        lost.starts_with("error") && lost.contains("cannot be reached"),
        "{lost}"
    );
    let _analyser = world.analyser();
    let well = found("task.json");
    assert!(
        well.starts_with("ok") && well.contains("has keys for all 1 tasks"),
        "{well}"
    );
    fs::write(world.path("other.json"), TASK.replace("settings", "other")).unwrap();
    let other = found("other.json");
    assert!(
        other.starts_with("error") && other.contains("has no task \"other\""),
        "{other}"
    );
    let [public, private] = [("other.pub", "shuffler.pem"), ("analyser.pub", "other.pem")]
        .map(|(public, private)| found_with("task.json", public, private));
    let of_analyser = "without a signature by the key of --analyser-key";
    assert!(
        public.starts_with("error") && public.contains(of_analyser),
        "{public}"
    );
    let of_shuffler = "does not know the key of --signing-key";
    assert!(
        private.starts_with("error") && private.contains(of_shuffler),
        "{private}"
    );
    // Nothing was left out or stored.
    let token = world.token("analysed");
    let (_, batches) = ask(world.analyser, &token, "GET /tasks/settings/batches");
    assert_eq!(batches["batches"][0]["reports"], 0, "{batches}");
}

/// A shuffler that is not listed, or that does not sign, cannot send. The refused one comes first.
#[test]
fn a_task_that_the_analyser_lacks_keeps_no_other_waiting() {
    let world = World::new();
    let other = TASK.replace("settings", "other");
    fs::write(world.path("other.json"), other).unwrap();
    let _analyser = world.analyser();
    let (_shuffler, address) = world.shuffler_of(10, &["--task", &world.text("other.json")]);
    let token = world.token("shuffled");
    let (_, tasks) = ask(address, &token, "GET /tasks");
    assert_eq!(tasks["tasks"][0], "other");
    let upload = Uploads::new(&world.task, 1).make(10);
    let bytes = world.seal(&mut world.sealer(address, 1), &upload);
    let mut client = Client::connect(address).unwrap();
    assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
    assert_eq!(world.estimates(10), expected(&world.task, [&upload]));
}

/// Metrics for the operator on call.
#[test]
fn what_waits_for_the_analyser_is_counted() {
    let world = World::new();
    let analyser = world.analyser();
    let (_shuffler, address) = world.shuffler(10);
    let mut sealer = world.sealer(address, 1);
    drop(analyser);
    let mut client = Client::connect(address).unwrap();
    let upload = Uploads::new(&world.task, 1).make(10);
    let bytes = world.seal(&mut sealer, &upload);
    assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
    let mut wait_for = |unsent: &str| {
        let line = format!("hushbin_batches_unsent {unsent}\n");
        until(|| {
            let (_, metrics) = client.get("/metrics").unwrap();
            String::from_utf8(metrics).unwrap().contains(&line)
        });
    };
    wait_for("1");
    let _analyser = world.analyser();
    wait_for("0");
    assert_eq!(world.estimates(10), expected(&world.task, [&upload]));
}

#[test]
fn only_named_shufflers_are_heard() {
    let world = World::new();
    let analyser = world.analyser();
    let address = world.analyser;
    let mut sealer = world.sealer(address, 1);
    let block = world.seal(&mut sealer, &Uploads::new(&world.task, 1).make(3));
    let post = |signature: Option<&str>| {
        let mut client = Client::connect(address).unwrap();
        let signature = signature.map_or(String::new(), |text| {
            format!("hushbin-signature: {text}\r\n")
        });
        let head = format!(
            "POST /tasks/settings/blocks HTTP/1.1\r\nhost: {address}\r\n{signature}content-length: {}\r\n\r\n",
            block.len()
        );
        client.write(&[head.as_bytes(), &block].concat()).unwrap();
        let (status, body) = client.read().unwrap();
        (status, serde_json::from_slice::<Value>(&body).unwrap())
    };
    let nobody = "00".repeat(8) + ":" + &"00".repeat(64);
    for signature in [None, Some(""), Some("x:y"), Some(nobody.as_str())] {
        let (status, answer) = post(signature);
        assert_eq!(status, 403, "{answer}");
        assert_eq!(answer["type"], "urn:hushbin:problem:unknown-shuffler");
    }
    drop(analyser);
    // The analyser does not have this shuffler's key.
    fs::copy(world.path("other.pem"), world.path("shuffler.pem")).unwrap();
    let analyser = world.analyser();
    let (shuffler, address) = world.shuffler(2);
    // A shuffler takes reports once it has the keys of its analyser.
    world.keys(address);
    let bytes = world.seal(&mut sealer, &Uploads::new(&world.task, 1).make(2));
    let mut client = Client::connect(address).unwrap();
    assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
    thread::sleep(Duration::from_secs(2));
    let token = world.token("shuffled");
    let (_, batches) = ask(address, &token, "GET /tasks/settings/batches");
    assert_eq!(batches["batches"][0]["reports_kept"], true, "{batches}");
    drop((shuffler, analyser));
}

/// A report that cannot be opened does not stop the rest from being counted.
#[test]
fn what_cannot_be_opened_is_left_out() {
    let world = World::new();
    let analyser = world.analyser();
    let (shuffler, address) = world.shuffler(10);
    let mut sealer = world.sealer(address, 1);
    let upload = Uploads::new(&world.task, 1).make(9);
    let mut client = Client::connect(address).unwrap();
    let bytes = world.seal(&mut sealer, &upload);
    assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
    let bytes = world.unopenable(address);
    assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
    assert_eq!(world.estimates(9), expected(&world.task, [&upload]));
    let mut client = Client::connect(world.analyser).unwrap();
    let metrics = String::from_utf8(client.get("/metrics").unwrap().1).unwrap();
    assert!(
        metrics.contains("hushbin_reports_undecryptable_total 1\n"),
        "{metrics}"
    );
    drop((shuffler, analyser));
}

/// Keys are rotated while reports are under way. Reports to both keys are opened, and each hides
/// among those sealed to the same key.
#[test]
fn keys_are_rotated_with_overlap() {
    let world = World::new();
    world.create_key("newer", "sealing");
    let analyser = world.analyser();
    let (shuffler, address) = world.shuffler(20);
    let mut old = world.sealer(address, 1);
    let old_keys = world.keys(address);
    analyser.kill();
    // Pages still seal to the old key while the new one comes after it.
    let analyser = world.analyser_of(&["sealing.pem", "newer.pem"]);
    let keys = world.keys(world.analyser);
    assert_eq!((&keys[..1], keys.len()), (&old_keys[..], 2));
    analyser.kill();
    let analyser = world.analyser_of(&["newer.pem", "sealing.pem"]);
    let mut new = world.sealer(world.analyser, 2);
    assert_eq!(world.keys(world.analyser).len(), 2);
    let mut uploads = Uploads::new(&world.task, 1);
    let [of_old, of_new] = [uploads.make(14), uploads.make(6)];
    for (sealer, upload) in [(&mut old, &of_old), (&mut new, &of_new)] {
        let bytes = world.seal(sealer, upload);
        world.post_once_listed(address, &bytes);
    }
    assert_eq!(
        world.estimates(20),
        expected(&world.task, [&of_old, &of_new])
    );
    let token = world.token("analysed");
    let (_, privacy) = ask(world.analyser, &token, "GET /tasks/settings/privacy");
    assert_eq!(privacy["smallest_batch"], 6, "{privacy}");
    drop((shuffler, analyser));
}
