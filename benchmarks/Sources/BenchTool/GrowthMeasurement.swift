/// Measures how the CPU time grows with sources, renditions, canvas, frame rate and bit rate, in offline rooms.
struct GrowthMeasurement {
    let tandem: String
    let ffmpeg: String
    let work: String
    /// Seconds of program time for each point.
    let seconds: Double

    private struct Room {
        var sources = 2
        var canvas = (width: 1280, height: 720)
        var fps = 30
        /// Heights and bits per second.
        var renditions = [(720, 2_500_000), (480, 1_200_000), (360, 700_000)]
    }

    func measure() throws(BenchError) -> [GrowthSeries] {
        var series: [GrowthSeries] = []
        series.append(try self.series("sources", (1...9).map { ("\($0)", Room(sources: $0)) }))
        let ladder = [(720, 2_500_000), (540, 1_600_000), (480, 1_200_000), (360, 700_000), (240, 400_000)]
        series.append(
            try self.series("renditions", (1...5).map { ("\($0)", Room(renditions: Array(ladder.prefix($0)))) }))
        series.append(
            try self.series(
                "canvas",
                [(640, 360), (854, 480), (1280, 720), (1920, 1080)].map {
                    ("\($0.0)×\($0.1)", Room(canvas: $0, renditions: [($0.1, 2_500_000)]))
                }))
        series.append(
            try self.series(
                "fps", [15, 24, 30, 60].map { ("\($0)", Room(fps: $0, renditions: [(720, 2_500_000)])) }))
        series.append(
            try self.series(
                "bitrate",
                [1_000_000, 2_500_000, 5_000_000].map { ("\($0 / 1000) kbit/s", Room(renditions: [(720, $0)])) }))
        return series
    }

    private func series(_ name: String, _ rooms: [(String, Room)]) throws(BenchError) -> GrowthSeries {
        var points: [GrowthSeries.Point] = []
        for (label, room) in rooms {
            let directory = "\(self.work)/growth"
            try Files.emptyDirectory(directory)
            try Files.write(text: self.pipeline(room, directory), to: "\(directory)/pipeline.json")
            let usage = try ChildProcess.run(
                [self.tandem, "run", "\(directory)/pipeline.json", "--log-level", "error"],
                output: "\(directory)/events")
            guard usage.status == 0 else { throw BenchError("\(name) \(label): status \(usage.status)") }
            points.append(
                GrowthSeries.Point(
                    label: label, cpuPerSecond: (usage.cpuSeconds / self.seconds).rounded(digits: 3),
                    peakMemoryMiB: usage.peakMemoryMiB.rounded(digits: 1)))
        }
        let text = points.map { "\($0.label) \($0.cpuPerSecond)" }.joined(separator: ", ")
        Terminal.say("  CPU seconds per second by \(name): \(text)")
        return GrowthSeries(name: name, points: points)
    }

    private func pipeline(_ room: Room, _ directory: String) -> String {
        let sources = (0..<room.sources).map {
            #"{ "uid": "s\#($0)", "type": "file", "path": "\#(self.work)/\#($0 % 2 == 0 ? "a" : "b").flv" }"#
        }
        let uids = (0..<room.sources).map { "\"s\($0)\"" }.joined(separator: ", ")
        let layout = room.sources == 1 ? "solo" : room.sources == 2 ? "sideBySide" : "grid"
        let renditions = room.renditions.map { height, bitrate in
            let width = (room.canvas.width * height / room.canvas.height + 1) & ~1
            return
                #"{ "name": "\#(height)p", "width": \#(width), "height": \#(height), "video": { "bitrate": \#(bitrate) } }"#
        }
        return """
            {
              "room": { "roomId": "growth" }, "clock": "offline", "durationSeconds": \(self.seconds),
              "sources": [ \(sources.joined(separator: ",\n")) ],
              "canvas": { "width": \(room.canvas.width), "height": \(room.canvas.height), "fps": \(room.fps) },
              "scenes": [ { "sceneId": "all", "layout": "\(layout)", "uids": [\(uids)] } ],
              "renditions": [ \(renditions.joined(separator: ",\n")) ],
              "outputs": [ { "path": "\(directory)/out" } ]
            }
            """
    }
}
