//! What several tests need.

/// A saved run, replayed by the engine alone.
pub fn replayed(file: &str) -> Vec<f32> {
    let mut table: toml::Table = toml::from_str(file).unwrap();
    let recording: muslin_lab::Recording = table.remove("recording").unwrap().try_into().unwrap();
    let method: muslin::Method = table.remove("method").unwrap().try_into().unwrap();
    let scene: muslin::Scene = table.try_into().unwrap();
    let mut sim = muslin::Sim::new(scene.compile().unwrap(), method).unwrap();
    if let Some(start) = &recording.start {
        sim.restore(start).unwrap();
    }
    for frame in 0..recording.frames {
        recording.apply(frame, &mut sim);
        sim.advance(scene.dt as f32);
    }
    sim.state().x.iter().flat_map(|x| x.to_array()).collect()
}
