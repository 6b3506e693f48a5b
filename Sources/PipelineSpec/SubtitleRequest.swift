import MediaTypes

/// Cues for a subtitle rendition.
package struct SubtitleRequest: Sendable, Equatable {
    /// The cues, 1 to 64.
    package var cues: [Cue] = []

    package init() {}

    /// A text and the program time at which it is shown.
    package struct Cue: Sendable, Equatable {
        package var text = ""
        /// Program time in milliseconds at which the text appears; `nil`: now.
        package var startMs: Int?
        /// Program time in milliseconds at which the text disappears; `nil`: see ``durationMs``.
        package var endMs: Int?
        /// How long the text is shown in milliseconds; `nil`: up to ``endMs``.
        package var durationMs: Int?

        package init() {}

        private static let latest = 9_007_199_254_740_991

        static let rule = ObjectRule(
            "a text and when it is shown", Cue(),
            [
                Field(required: "text", \.text, .text("any text", accepts: { _ in true }), "the text"),
                Field(
                    optional: "startMs", \.startMs, .integer(0...Self.latest),
                    "program time in milliseconds at which it appears; default now"),
                Field(
                    optional: "endMs", \.endMs, .integer(0...Self.latest),
                    "program time in milliseconds at which it disappears"),
                Field(
                    optional: "durationMs", \.durationMs, .integer(SubtitleRequest.durations),
                    "how long it is shown in milliseconds, instead of endMs"),
            ])
    }

    /// How long a cue may be shown, in milliseconds.
    package static let durations = 100...60_000

    static let rule = ObjectRule(
        "cues for a subtitle rendition", SubtitleRequest(),
        [
            Field(
                required: "cues", \.cues, .list(of: .object(Cue.rule), 1...64, standIn: Cue()), "the cues, 1 to 64")
        ])

    /// Parses the request body: returns the request, or its mistakes with their paths. Never traps on any input.
    package static func parse(_ bytes: [UInt8]) -> Result<SubtitleRequest, SpecReport.Refusal> {
        self.rule.parse(bytes) { request, log in
            for (index, cue) in request.cues.enumerated() {
                let path = "cues[\(index)]"
                guard log.isValid(path, "\(path).startMs", "\(path).endMs", "\(path).durationMs") else { continue }
                switch (cue.startMs, cue.endMs, cue.durationMs) {
                case (_, _?, _?):
                    log.mistake("\(path).durationMs", "cannot be combined with endMs", fix: "remove one of the two")
                case (_, nil, nil):
                    log.mistake("\(path).durationMs", "is missing", fix: "add \"durationMs\", or startMs and endMs")
                case (nil, _?, nil):
                    log.mistake(
                        "\(path).startMs", "is missing", fix: "add \"startMs\", or write durationMs instead of endMs")
                case (let start?, let end?, nil):
                    if !Self.durations.contains(end - start) {
                        log.mistake(
                            "\(path).endMs", "is \(end - start) ms after startMs",
                            fix: "write a time that is \(Self.durations.lowerBound) to "
                                + "\(Self.durations.upperBound) ms after startMs")
                    }
                case (_, nil, _?): break
                }
            }
        }
    }
}
