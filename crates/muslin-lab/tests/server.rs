//! The server as a page, and as someone who means no good, would use it.

mod common;

use common::replayed;
use muslin_lab::server::Lab;
use serde_json::{Value, json};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use tungstenite::client::IntoClientRequest;
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

/// A lab on a free port; serves until the test ends.
fn lab() -> String {
    let (address, started) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let lab = Lab::bind(0).await.unwrap();
            address.send(lab.url()).unwrap();
            lab.serve(std::future::pending()).await.unwrap();
        });
    });
    let url = started.recv().unwrap();
    url.trim_start_matches("http://").trim_end_matches('/').to_owned()
}

type Socket = WebSocket<MaybeTlsStream<TcpStream>>;

fn connect(address: &str) -> Socket {
    let (socket, _) = tungstenite::connect(format!("ws://{address}/socket")).unwrap();
    if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    }
    socket
}

fn send(socket: &mut Socket, message: &Value) {
    socket.send(Message::text(message.to_string())).unwrap();
}

/// The next text message of a type.
fn next(socket: &mut Socket, kind: &str) -> Value {
    loop {
        if let Message::Text(text) = socket.read().unwrap() {
            let value: Value = serde_json::from_str(&text).unwrap();
            if value["type"] == kind {
                return value;
            }
        }
    }
}

/// Time and positions of the next frame of a pane, which is then taken.
fn frame(socket: &mut Socket, pane: u32) -> (f64, Vec<f32>) {
    loop {
        if let Message::Binary(bytes) = socket.read().unwrap() {
            let word = |i: usize| u32::from_le_bytes(bytes[4 * i..][..4].try_into().unwrap());
            if word(0) == 3 && word(1) == pane {
                let n = word(2) as usize;
                assert_eq!(bytes.len(), (24 + 18 * n).next_multiple_of(4));
                let time = f64::from_le_bytes(bytes[16..24].try_into().unwrap());
                let numbers = bytes[24..24 + 12 * n].chunks_exact(4);
                let x = numbers.map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
                send(socket, &json!({"type":"taken"}));
                return (time, x);
            }
        }
    }
}

/// Waits for a frame of a pane whose particle is at such a height.
fn until(
    socket: &mut Socket,
    pane: u32,
    particle: usize,
    wanted: impl Fn(f32) -> bool,
) -> Vec<f32> {
    loop {
        let (_, x) = frame(socket, pane);
        if wanted(x[3 * particle + 1]) {
            return x;
        }
    }
}

#[test]
fn a_scene_opens_moves_and_answers_to_hands() {
    let mut socket = connect(&lab());
    let catalogue = next(&mut socket, "catalogue");
    assert!(catalogue["scenes"].as_array().unwrap().len() > 10);
    let methods = ["implicit-euler", "xpbd"];
    send(&mut socket, &json!({"type":"open","scene":"golden-5x5","methods":methods}));
    let opened = next(&mut socket, "opened");
    assert_eq!(opened["panes"].as_array().unwrap().len(), 2);
    assert_eq!(opened["pins"], json!([0, 4]));
    // It falls, in the second pane too.
    let (_, start) = frame(&mut socket, 1);
    until(&mut socket, 1, 12, |y| y < start[3 * 12 + 1] - 0.05);
    // Pulled up, it comes up.
    let up = json!({"type":"pull","particle":12,"target":[0.5,1.0,0.5],"stiffness":100.0});
    send(&mut socket, &up);
    until(&mut socket, 0, 12, |y| y > 0.3);
    send(&mut socket, &json!({"type":"release"}));
    // Let go, a corner leaves its place and the other holds.
    send(&mut socket, &json!({"type":"pin","particle":0,"held":false}));
    let x = until(&mut socket, 0, 0, |y| y < start[1] - 0.05);
    assert_eq!(x[12..15], start[12..15]);
    let report = next(&mut socket, "report");
    assert!(report["energy"]["total"].is_f64() && report["max_strain"].is_f64(), "{report}");
    // A pause is confirmed, however many reports were on their way.
    send(&mut socket, &json!({"type":"play","playing":false}));
    while next(&mut socket, "report")["playing"] == true {}
}

#[test]
fn two_hands_pull_at_once_and_let_go_one_by_one() {
    let mut socket = connect(&lab());
    send(&mut socket, &json!({"type":"open","scene":"golden-5x5","methods":["implicit-euler"]}));
    let up = |hand: usize, particle: usize, x: f32| json!({"type":"pull","hand":hand,"particle":particle,"target":[x,1.0,0.5],"stiffness":100.0});
    let (left, right) = (20, 24);
    send(&mut socket, &up(1, right, 1.0));
    send(&mut socket, &up(0, left, 0.0));
    until(&mut socket, 0, left, |y| y > 0.3);
    until(&mut socket, 0, right, |y| y > 0.3);
    // A hand that lets go leaves the other's alone, whichever took hold first.
    send(&mut socket, &json!({"type":"release","hand":1}));
    let x = until(&mut socket, 0, right, |y| y < 0.0);
    assert!(x[3 * left + 1] > 0.3, "{}", x[3 * left + 1]);
    send(&mut socket, &json!({"type":"release"}));
    until(&mut socket, 0, left, |y| y < 0.0);
    send(&mut socket, &up(2, left, 0.0));
    assert!(next(&mut socket, "refused")["message"].as_str().unwrap().contains("hand"));
}

#[test]
fn an_edited_scene_goes_on_from_where_it_was() {
    let mut socket = connect(&lab());
    send(&mut socket, &json!({"type":"open","scene":"golden-5x5","methods":["implicit-euler"]}));
    let opened = next(&mut socket, "opened");
    send(&mut socket, &json!({"type":"play","playing":false}));
    (0..40).for_each(|_| send(&mut socket, &json!({"type":"step"})));
    let mut scene = opened["scene"].clone();
    scene["cloth"][0]["springs"]["structural"] = json!(300.0);
    let method = opened["panes"][0]["method"].clone();
    send(&mut socket, &json!({"type":"load","scene":scene,"methods":[method],"keep":true}));
    // The last frame before the edited scene is the first after it.
    let mut before = Vec::new();
    let edited = loop {
        match socket.read().unwrap() {
            Message::Text(text) if text.contains("\"opened\"") => {
                break serde_json::from_str::<Value>(&text).unwrap();
            }
            Message::Binary(bytes) => before = bytes.to_vec(),
            _ => {}
        }
    };
    assert_eq!(edited["scene"]["cloth"][0]["springs"]["structural"], 300.0);
    let (time, x) = frame(&mut socket, 0);
    let (place, size) = (24, 12 * 25);
    let kept: Vec<u8> = x.iter().flat_map(|c| c.to_le_bytes()).collect();
    assert!(time > 0.16 && kept == before[place..place + size], "at {time}");
    send(&mut socket, &json!({"type":"reset"}));
    next(&mut socket, "opened");
    assert_eq!(frame(&mut socket, 0).0, 0.0);
}

#[test]
fn what_cannot_be_is_refused_and_nothing_changes() {
    let mut socket = connect(&lab());
    let mut refused = |message: Value| {
        send(&mut socket, &message);
        let refused = next(&mut socket, "refused");
        assert_eq!(refused["command"], message["type"]);
        refused["message"].as_str().unwrap().to_owned()
    };
    let open =
        |scene: &str, methods: &[&str]| json!({"type":"open","scene":scene,"methods":methods});
    assert!(refused(open("nowhere", &["xpbd"])).contains("nowhere"));
    assert!(refused(open("hang", &[])).contains("methods"));
    assert!(refused(open("bunting", &["multigrid"])).contains("grid"));
    assert!(refused(json!({"type":"dance"})).contains("not a command"));
    let strong = json!({"type":"inputs","gravity":[0,1e9,0],"wind":[0,0,0]});
    assert!(refused(strong).contains("inputs"));
    let large = json!({"cloth":[{"columns":4000,"rows":4000,"fabric":"silk"}]});
    let method = json!(muslin::Method::preset("xpbd").unwrap());
    let message = refused(json!({"type":"load","scene":large,"methods":[method]}));
    assert!(message.contains("at most"), "{message}");
    send(&mut socket, &open("pendulum", &["rk4"]));
    assert_eq!(next(&mut socket, "opened")["panes"][0]["particles"], 2);
}

#[test]
fn other_pages_and_other_names_are_refused() {
    let address = lab();
    let attempt = |header: &'static str, value: &str| {
        let mut request = format!("ws://{address}/socket").into_client_request().unwrap();
        request.headers_mut().insert(header, value.parse().unwrap());
        tungstenite::connect(request).is_ok()
    };
    assert!(attempt("origin", &format!("http://{address}")));
    assert!(!attempt("origin", "http://evil.example"));
    assert!(!attempt("origin", "null"));
    assert!(!attempt("host", "evil.example"));
}

#[test]
fn malformed_floods_and_reconnects_leave_it_serving() {
    let address = lab();
    let mut sent = 0;
    while sent < 100_000 {
        let mut socket = connect(&address);
        for i in 0..2500 {
            let message = match i % 4 {
                0 => Message::text("{\"type\":\"pull\",\"particle\":-1}"),
                1 => Message::binary(vec![0xff; 64]),
                2 => Message::text("[".repeat(200)),
                _ => Message::text("{\"type\":\"load\",\"scene\":{\"dt\":1e999},\"methods\":[]}"),
            };
            if socket.write(message).is_err() {
                break;
            }
            sent += 1;
        }
        let _ = socket.flush();
    }
    (0..1000).for_each(|_| drop(connect(&address)));
    let mut socket = connect(&address);
    send(&mut socket, &json!({"type":"open","scene":"pendulum","methods":["implicit-euler"]}));
    let begun = Instant::now();
    assert!(frame(&mut socket, 0).1.len() == 6 && begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_saved_run_replays_equal_bits() {
    let mut socket = connect(&lab());
    send(&mut socket, &json!({"type":"open","scene":"golden-5x5","methods":["kim-2006","rk4"]}));
    let opened = next(&mut socket, "opened");
    // Hands on the cloth while the clock runs: which frame they meet is not for the test to say.
    let pull = json!({"type":"pull","particle":12,"target":[0.4,0.7,0.2],"stiffness":30.0});
    send(&mut socket, &pull);
    let other = json!({"type":"pull","hand":1,"particle":24,"target":[1.0,0.5,0],"stiffness":30.0});
    send(&mut socket, &other);
    until(&mut socket, 0, 12, |y| y > 0.1);
    send(&mut socket, &json!({"type":"pin","particle":20,"held":true}));
    send(&mut socket, &json!({"type":"release"}));
    send(&mut socket, &json!({"type":"inputs","gravity":[1.0,-5.0,0.0],"wind":[0,0,0]}));
    until(&mut socket, 0, 12, |y| y < 0.0);
    // An edit, of which a cut is one, goes on from where it was; what is saved then begins there.
    for edited in [false, true] {
        if edited {
            let mut scene = opened["scene"].clone();
            scene["cloth"][0]["springs"]["shear"] = json!(20.0);
            scene["cloth"][0]["cuts"] = json!([[10, 15], [11, 16], [12, 17]]);
            let mut methods: Vec<_> =
                (0..2).map(|i| opened["panes"][i]["method"].clone()).collect();
            // What fits in a budget differs from frame to frame.
            methods[0]["budget"] = json!(0.005);
            let edit = json!({"type":"load","scene":scene,"methods":methods,"keep":true});
            send(&mut socket, &edit);
            next(&mut socket, "opened");
            (0..20).for_each(|_| {
                frame(&mut socket, 0);
            });
        }
        send(&mut socket, &json!({"type":"play","playing":false}));
        for pane in 0..2u32 {
            // A step sends its frames before what is asked next.
            send(&mut socket, &json!({"type":"step"}));
            send(&mut socket, &json!({"type":"save","pane":pane}));
            let mut last = Vec::new();
            let saved = loop {
                match socket.read().unwrap() {
                    Message::Text(text) if text.contains("\"saved\"") => {
                        break serde_json::from_str::<Value>(&text).unwrap();
                    }
                    Message::Binary(bytes) if bytes[0] == 3 && bytes[4] == pane as u8 => {
                        last = bytes[24..24 + 12 * 25].to_vec();
                    }
                    _ => {}
                }
            };
            let again: Vec<u8> = replayed(saved["text"].as_str().unwrap())
                .iter()
                .flat_map(|c| c.to_le_bytes())
                .collect();
            assert!(again == last, "pane {pane}, edited: {edited}");
        }
        send(&mut socket, &json!({"type":"play","playing":true}));
    }
}
