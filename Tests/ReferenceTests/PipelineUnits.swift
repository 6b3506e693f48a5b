/// Units of the numbers in a pipeline file.
enum PipelineUnits {
    private static let suffixes: [(ending: String, unit: String)] = [
        ("PerSecond", "per second"), ("Bytes", "bytes"), ("Seconds", "s"), ("Ms", "ms"), ("Percent", "%"),
        ("Ppm", "ppm"), ("Frames", "frames"), ("itrate", "bit/s"), ("SampleRate", "Hz"), ("Fps", "frames/s"),
        ("Width", "pixels"), ("Height", "pixels"),
    ]
    private static let names: [String: String] = [
        "fps": "frames/s", "sampleRate": "Hz", "chunkSize": "bytes", "bufferSize": "bits", "volume": "%",
        "width": "pixels", "height": "pixels", "x": "pixels", "y": "pixels", "size": "pixels",
        "cornerRadius": "pixels", "alpha": "0 to 1", "backgroundAlpha": "0 to 1", "thresholdDb": "LUFS",
        "reductionDb": "dB", "seconds": "s", "rotation": "degrees", "cropTop": "%", "cropLeft": "%",
    ]
    /// Numbers that count things, or that are ids.
    private static let counts: Set<String> = [
        "revision", "maxConnections", "maxConnectionsPerAddress", "maxPartialMessages", "maxChunkStreams",
        "maxAmfDepth", "track", "threads", "zOrder", "left", "right", "channels", "segmentGops",
        "rotateEverySegments", "queueSegments", "maxViewers", "columns", "rows", "maxSources", "backgroundColor",
        "color",
        "background", "leftColor", "rightColor", "uid", "uids", "from",
    ]

    /// The unit of a number; nil for counts, ids, and values that are no numbers; `?` for a number whose unit is missing
    /// here.
    static func unit(of key: PipelineReference.Key) -> String? {
        let type = key.member.type
        guard type.contains("integer") || type.contains("number") else { return nil }
        if self.counts.contains(key.name) { return nil }
        let isPercentToo = type.contains("string") && key.member.range.contains("%")
        if let unit = self.names[key.name] { return isPercentToo ? "\(unit) or %" : unit }
        if let unit = self.suffixes.first(where: { key.name.hasSuffix($0.ending) })?.unit {
            return isPercentToo ? "\(unit) or %" : unit
        }
        return "?"
    }
}
