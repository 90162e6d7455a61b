use serde_json::json;

use super::*;

fn task() -> Task {
    let draft: hushbin::TaskDraft = serde_json::from_value(json!({
        "id": "t", "epsilon": 1.0, "questions": [
            { "name": "theme", "kind": "choice", "options": ["dark", "light"] },
            { "name": "beta", "kind": "flag" },
            { "name": "load, ms", "kind": "number", "min": 0, "max": 100 },
            { "name": "used", "kind": "set", "options": ["a", "b", "c"], "sparsity": 2 },
            { "name": "rated", "kind": "ratings", "items": 4, "sparsity": 2, "value": "real" },
        ],
    }))
    .unwrap();
    draft.resolve_task().unwrap()
}

fn csv(text: &str) -> Result<Answers, String> {
    Answers::read_csv(text.as_bytes(), &task()).map_err(|error| error.to_string())
}

fn json(text: &str) -> Result<Answers, String> {
    Answers::read_json_lines(text.as_bytes(), &task()).map_err(|error| error.to_string())
}

#[test]
fn both_forms_say_the_same() {
    let from_csv = csv("\"load, ms\",theme,beta,used,rated\n\
         150,dark,true,a; c,0:0.5;3:-1\n\
         7.5,light,false,,\n");
    let from_json = json(
        "{\"theme\":\"dark\",\"beta\":true,\"load, ms\":150,\"used\":[\"a\",\"c\"],\
         \"rated\":{\"0\":0.5,\"3\":-1}}\n\n\
         {\"load, ms\":7.5,\"theme\":\"light\",\"beta\":false,\"used\":null}\n",
    );
    assert_eq!(from_csv, from_json);
    let answers = from_csv.unwrap();
    assert_eq!(answers.person_count(), 2);
    assert_eq!(answers.clipped_count(2), 1);
    let entry = |item, value| Entry { item, value };
    let first = answers.answers_of_person(0);
    assert_eq!(first[0], [entry(0, 1.0)]);
    assert_eq!(first[1], [entry(1, 1.0)]);
    assert_eq!(first[2], [entry(0, 150.0)]);
    assert_eq!(first[3], [entry(0, 1.0), entry(2, 1.0)]);
    assert_eq!(first[4], [entry(0, 0.5), entry(3, -1.0)]);
    assert_eq!(answers.answers_of_person(1)[3], []);
}

#[test]
fn tools_write_csv_in_several_ways() {
    let expected = csv("theme,beta,\"load, ms\"\ndark,true,1.5\nlight,false,2\n").unwrap();
    for text in [
        "\u{feff}theme , beta,\"load, ms\"\n dark ,True, 1.5\nlight,FALSE,2\n",
        "\u{feff}\"theme\",beta,\"load, ms\"\r\ndark,yes,1.5\r\nlight,no,2\r\n",
        "theme;beta;load, ms\ndark;1;1.5\nlight;0;2\n",
        "theme\tload, ms\tbeta\ndark\t1.5\tTRUE\nlight\t2\tNo\n",
        "\n\ntheme,beta,\"load, ms\"\rdark,true,1.5\rlight,false,2\r",
    ] {
        assert_eq!(csv(text).as_ref(), Ok(&expected), "{text:?}");
    }
    // The only name of the task contains a separator.
    let draft: hushbin::TaskDraft = serde_json::from_value(json!({
        "id": "t", "epsilon": 1.0, "questions": [
            { "name": "a;b c", "kind": "choice", "options": ["x;y", "z"] },
        ],
    }))
    .unwrap();
    let task = draft.resolve_task().unwrap();
    let found = Answers::read_csv("a;b c\nx;y\nz\n".as_bytes(), &task).unwrap();
    assert_eq!(found.person_count(), 2);
    for (text, expected) in [
        (
            "theme;colour\n",
            "line 1: the task has no question \"colour\"",
        ),
        (
            "theme;beta,theme\n",
            "line 1: the task has no question \"theme;beta\"",
        ),
        (
            "theme beta\n",
            "line 1: the task has no question \"theme beta\"",
        ),
    ] {
        assert_eq!(csv(text).unwrap_err(), expected);
    }
}

#[test]
fn several_numbers_have_columns_of_their_own() {
    let draft: hushbin::TaskDraft = serde_json::from_value(json!({
        "id": "t", "epsilon": 1.0, "questions": [
            { "name": "load", "kind": "numbers", "of": [
                { "name": "first", "min": 0, "max": 5, "unit": "s" },
                { "name": "all", "min": 0, "max": 10 },
            ] },
            { "name": "rated", "kind": "ratings", "items": ["x", "y"], "sparsity": 2,
              "value": "real" },
        ],
    }))
    .unwrap();
    let task = draft.resolve_task().unwrap();
    let read = |text: &str| {
        let found = Answers::read_csv(text.as_bytes(), &task);
        found.map_err(|error| error.to_string())
    };
    let columns = read("load.first,rated.y,load.all,rated.x\n1,,2.5,0.5\n7,1,3,\n").unwrap();
    let cells = "load,rated\nfirst:1;all:2.5,x:0.5\nall:3;first:7,y:1\n";
    assert_eq!(Ok(&columns), read(cells).as_ref());
    let lines = "{\"load\":{\"all\":2.5,\"first\":1},\"rated\":{\"x\":0.5}}\n\
         {\"load\":{\"all\":3,\"first\":7},\"rated\":{\"y\":1}}\n";
    let lines = Answers::read_json_lines(lines.as_bytes(), &task).unwrap();
    assert_eq!((&columns, columns.clipped_count(0)), (&lines, 1));
    for (text, expected) in [
        (
            "load.last\n",
            "line 1: the task has no question \"load.last\"",
        ),
        (
            "load.first,load.all\n1,2\n,2\n3,\n",
            "line 3: \"load\": \"first\": there is no answer; further lines without answers: 1",
        ),
        (
            "load\nfirst:1\n",
            "line 2: \"load\": \"all\": there is no answer",
        ),
    ] {
        assert_eq!(read(text).unwrap_err(), expected);
    }
}

/// serde would silently keep the last of two equal members.
#[test]
fn members_that_stand_twice_are_refused() {
    for (text, expected) in [
        (
            "{\"theme\":\"dark\",\"theme\":\"light\"}",
            "line 1: \"theme\" appears twice",
        ),
        (
            "\n{\"rated\":{\"0\":1,\"1\":1,\"0\":-1}}",
            "line 2: \"0\" appears twice",
        ),
        (
            "{\"used\":[{\"a\":1,\"a\":1}]}",
            "line 1: \"a\" appears twice",
        ),
        (
            "{\"theme\":\"{\\\"a:\",\"\\u0074heme\":\"\"}",
            "line 1: \"theme\" appears twice",
        ),
    ] {
        assert_eq!(json(text).unwrap_err(), expected);
    }
}

#[test]
fn missing_answers_are_counted() {
    let text = "theme,beta,\"load, ms\"\ndark,true,1\ndark,true,\nlight,,2\ndark,false,\n";
    let expected = "line 3: \"load, ms\": there is no answer; further lines without answers: 2";
    assert_eq!(csv(text).unwrap_err(), expected);
    let text = "\u{feff}{\"theme\":\"dark\",\"beta\":true,\"load, ms\":null}\n{}\n";
    let expected = "line 1: \"load, ms\": there is no answer; further lines without answers: 1";
    assert_eq!(json(text).unwrap_err(), expected);
    // Invalid answers are reported before missing ones.
    let text = "theme,beta,\"load, ms\"\ndark,true,\ndark,true,NA\n";
    let expected = "line 3: \"load, ms\": expected a finite number, found \"NA\"";
    assert_eq!(csv(text).unwrap_err(), expected);
}

fn crossed() -> Task {
    let draft: hushbin::TaskDraft = serde_json::from_value(json!({
        "id": "t", "epsilon": 1.0, "questions": [
            { "name": "load-by-plan", "kind": "cross", "of": [
                { "name": "plan", "kind": "choice", "options": ["free", "pro"] },
                { "name": "loadMs", "kind": "number", "min": 0, "max": 100 },
            ] },
            { "name": "both", "kind": "cross", "of": [
                { "name": "beta", "kind": "flag" },
                { "name": "version", "kind": "choice", "options": 3 },
            ] },
            { "name": "all", "kind": "together", "of": [
                { "name": "beta", "kind": "flag" },
                { "name": "theme", "kind": "choice", "options": ["dark", "light"] },
                { "name": "version", "kind": "choice", "options": 3 },
            ] },
        ],
    }))
    .unwrap();
    draft.resolve_task().unwrap()
}

#[test]
fn parts_have_columns_or_members() {
    let task = crossed();
    let from_csv = Answers::read_csv(
        "both.version,load-by-plan.loadMs,load-by-plan.plan,both.beta,\
         all.theme,all.version,all.beta\n\
         2,150,pro,true,light,1,true\n0,7.5,free,false,dark,2,false\n"
            .as_bytes(),
        &task,
    );
    let from_json = Answers::read_json_lines(
        "{\"load-by-plan\":{\"plan\":\"pro\",\"loadMs\":150},\
         \"both\":{\"beta\":true,\"version\":2},\
         \"all\":{\"version\":1,\"beta\":true,\"theme\":\"light\"}}\n\
         {\"all\":{\"beta\":false,\"theme\":\"dark\",\"version\":2},\
         \"both\":{\"version\":0,\"beta\":false},\
         \"load-by-plan\":{\"loadMs\":7.5,\"plan\":\"free\"}}\n"
            .as_bytes(),
        &task,
    );
    let answers = from_csv.unwrap();
    assert_eq!(answers, from_json.unwrap());
    let entry = |item, value| Entry { item, value };
    assert_eq!(answers.answer_entries(0, 0), [entry(1, 150.0)]);
    assert_eq!(answers.answer_entries(0, 1), [entry(1, 2.0)]);
    assert_eq!(answers.answer_entries(1, 0), [entry(0, 7.5)]);
    let all = [entry(0, 1.0), entry(1, 1.0), entry(2, 1.0)];
    assert_eq!(answers.answer_entries(0, 2), all);
    assert_eq!(answers.answer_entries(1, 2)[2], entry(2, 2.0));
    assert_eq!(
        [0, 1].map(|question| answers.clipped_count(question)),
        [1, 0]
    );
}

#[test]
fn wrong_parts_are_named() {
    let task = crossed();
    let header = "load-by-plan.plan,load-by-plan.loadMs,both.beta,both.version,\
                  all.beta,all.theme,all.version\n";
    for (text, expected) in [
        (
            "load-by-plan\n".to_owned(),
            "line 1: \"load-by-plan\" has a column for each part",
        ),
        (
            "both.gamma\n".to_owned(),
            "line 1: the task has no question \"both.gamma\"",
        ),
        (
            format!("{header}prof,1,true,0,true,dark,0\n"),
            "line 2: \"load-by-plan\": \"plan\": there is no option \"prof\"",
        ),
        (
            format!("{header}pro,,true,0,true,dark,0\n"),
            "line 2: \"load-by-plan\": \"loadMs\": there is no answer",
        ),
        (
            format!("{header}pro,NaN,true,0,true,dark,0\n"),
            "line 2: \"load-by-plan\": \"loadMs\": expected a finite number",
        ),
        (
            format!("{header}pro,1,perhaps,0,true,dark,0\n"),
            "line 2: \"both\": \"beta\": expected true or false",
        ),
        (
            "all\n".to_owned(),
            "line 1: \"all\" has a column for each part",
        ),
        (
            format!("{header}pro,1,true,0,2,dark,0\n"),
            "line 2: \"all\": \"beta\": expected true or false",
        ),
        (
            format!("{header}pro,1,true,0,true,blue,0\n"),
            "line 2: \"all\": \"theme\": there is no option \"blue\"",
        ),
        (
            format!("{header}pro,1,true,0,true,,0\n"),
            "line 2: \"all\": \"theme\": there is no answer",
        ),
        (
            "both.beta\ntrue\n".to_owned(),
            "line 2: \"load-by-plan\": there is no answer",
        ),
    ] {
        let error = Answers::read_csv(text.as_bytes(), &task)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(expected), "{error}, expected {expected}");
    }
    let line = "{\"load-by-plan\":{\"plan\":\"pro\",\"load\":1}}";
    let error = Answers::read_json_lines(line.as_bytes(), &task).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 1: \"load-by-plan\": there is no part \"load\""
    );
}

#[test]
fn ratings_alone_are_items() {
    let draft: hushbin::TaskDraft = serde_json::from_value(json!({
        "id": "t", "items": ["dark", "wide"], "sparsity": 2, "epsilon": 1.0, "value": "sign",
    }))
    .unwrap();
    let task = draft.resolve_task().unwrap();
    let from_csv = Answers::read_csv("wide,dark\n1,-1\n,1\n".as_bytes(), &task).unwrap();
    let lines = "{\"wide\":1,\"dark\":-1}\n{\"dark\":1}\n";
    let from_json = Answers::read_json_lines(lines.as_bytes(), &task).unwrap();
    assert_eq!(
        from_csv.answers_of_person(1),
        from_json.answers_of_person(1)
    );
    let sorted = |answers: &Answers| {
        let mut entries = answers.answers_of_person(0)[0].to_vec();
        entries.sort_by_key(|entry| entry.item);
        entries
    };
    assert_eq!(sorted(&from_csv), sorted(&from_json));
    let error = Answers::read_csv("tall\n1\n".as_bytes(), &task).unwrap_err();
    assert_eq!(error.to_string(), "line 1: there is no option \"tall\"");
}

#[test]
fn wrong_lines_are_named() {
    for (text, expected) in [
        (
            "theme,colour\n",
            "line 1: the task has no question \"colour\"",
        ),
        ("theme,theme\n", "line 1: \"theme\" appears twice"),
        ("theme\n", "line 1: there are no answers"),
        (
            "theme\nblue\n",
            "line 2: \"theme\": there is no option \"blue\"",
        ),
        ("theme\n\"\"\n", "line 2: \"theme\": there is no answer"),
        ("theme\ndark\n", "line 2: \"beta\": there is no answer"),
        (
            "theme,beta\ndark,perhaps\n",
            "line 2: \"beta\": expected true or false, found \"perhaps\"",
        ),
        (
            "theme,beta,\"load, ms\"\ndark,true,1\nlight,true,NaN\n",
            "line 3: \"load, ms\": expected a finite number, found \"NaN\"",
        ),
    ] {
        assert_eq!(csv(text).unwrap_err(), expected, "{text:?}");
    }
    for (text, expected) in [
        (
            "{\"colour\":1}",
            "line 1: the task has no question \"colour\"",
        ),
        ("[]", "line 1: invalid type"),
        (
            "{\"theme\":[\"dark\",\"light\"]}",
            "line 1: \"theme\": expected one of the options",
        ),
        (
            "{\"theme\":\"dark\",\"beta\":1}",
            "line 1: \"beta\": expected true or false",
        ),
    ] {
        let error = json(text).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    let uneven = csv("theme,beta\ndark\n").unwrap_err();
    assert!(uneven.starts_with("line 2: "), "{uneven}");
}
