extension ControlResponder {
    /// Allowed durations of a PK's countdown and of its other phases in milliseconds, as in the pipeline file.
    private static let countdownRange = 0...600_000
    private static let phaseRange = 0...86_400_000

    /// Parses the body of `POST /v1/pk:start`, `:punish` or `:end`.
    static func pkCommand(_ verb: ControlRoute.PKVerb, _ body: [UInt8]) throws(ControlFailure) -> PKCommand {
        switch verb {
        case .start:
            return .start(try Self.pkStart(body))
        case .punish:
            let values = try FlatObject(body: body, keys: ["punishMs"])
            return .punish(punishMs: try values.integer("punishMs", in: Self.phaseRange))
        case .end:
            _ = try FlatObject(body: body, keys: [])
            return .end
        }
    }

    private static func pkStart(_ body: [UInt8]) throws(ControlFailure) -> PKCommand.Start {
        let values = try FlatObject(
            body: body,
            keys: ["scene", "countdownScene", "punishScene", "endScene", "countdownMs", "durationMs", "punishMs"])
        var start = PKCommand.Start()
        start.scene = try values.string("scene")
        start.countdownScene = try values.string("countdownScene")
        start.punishScene = try values.string("punishScene")
        start.endScene = try values.string("endScene")
        start.countdownMs = try values.integer("countdownMs", in: Self.countdownRange)
        start.durationMs = try values.integer("durationMs", in: Self.phaseRange)
        start.punishMs = try values.integer("punishMs", in: Self.phaseRange)
        return start
    }
}
