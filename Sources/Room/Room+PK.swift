package import Control
import MediaTypes

extension Room {
    package func changePK(_ command: PKCommand) throws(ControlFailure) -> String {
        try self.checkOpen()
        guard self.pipeline.pk != nil else {
            throw .notFound("this room has no PK", fix: "add \"pk\" to the pipeline, or put a scene on air")
        }
        guard self.state == .live else { throw Self.refusal("nobody has published yet", fix: "wait for the sources") }
        do throws(PKLife.Refusal) {
            try self.commandPK { life, now throws(PKLife.Refusal) in
                switch command {
                case .start(let countdown, let duration, let punish):
                    try life.startPK(
                        countdown: Self.nanoseconds(countdown), duration: Self.nanoseconds(duration),
                        punish: Self.nanoseconds(punish), now: now)
                case .punish(let duration): try life.punishPK(duration: Self.nanoseconds(duration), now: now)
                case .end: try life.endPK(now: now)
                }
            }
        } catch {
            throw Self.refusal(error.what, fix: error.fix)
        }
        return self.pkJSON.text
    }

    private static func nanoseconds(_ milliseconds: Int?) -> Int64? { milliseconds.map { Int64($0) &* 1_000_000 } }

    private static func refusal(_ what: String, fix: String) -> ControlFailure {
        ControlFailure(code: "requestFailed", number: 1417, status: 409, what: what, fix: fix)
    }
}
