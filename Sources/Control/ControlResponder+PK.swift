import HTTPListener
import HTTPTypes

extension ControlResponder {
    /// Longest countdown and longest phase, in milliseconds; as in the pipeline file.
    private static let countdownRange = 0...600_000
    private static let phaseRange = 0...86_400_000

    /// Reads the body of `POST /v1/pk:start`, `:punish` or `:end`.
    static func pkCommand(_ verb: ControlRoute.PKVerb, _ body: [UInt8]) throws(ControlFailure) -> PKCommand {
        switch verb {
        case .start:
            let values = try FlatObject(body: body, keys: ["countdownMs", "durationMs", "punishMs"])
            return .start(
                countdownMs: try values.integer("countdownMs", in: Self.countdownRange),
                durationMs: try values.integer("durationMs", in: Self.phaseRange),
                punishMs: try values.integer("punishMs", in: Self.phaseRange))
        case .punish:
            let values = try FlatObject(body: body, keys: ["punishMs"])
            return .punish(punishMs: try values.integer("punishMs", in: Self.phaseRange))
        case .end:
            _ = try FlatObject(body: body, keys: [])
            return .end
        }
    }
}
