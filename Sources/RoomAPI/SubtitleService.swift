package import Control
import HLS
import MediaTypes
package import Packager
import PipelineSpec
package import Program

/// Adds cues to the subtitle renditions of the HLS output on request.
package struct SubtitleService: Sendable {
    private let host: any APIHost
    /// Packages the HLS output; nil if the room has none.
    private let packager: HLSPackager?
    private let program: ProgramStage

    /// - Parameter packager: Packages the HLS output; nil if the room has none.
    package init(_ host: any APIHost, _ program: ProgramStage, packager: HLSPackager?) {
        (self.host, self.program, self.packager) = (host, program, packager)
    }

    /// Adds cues to a rendition: all of them or, if one is refused, none.
    ///
    /// - Parameter body: A JSON object; see ``SubtitleRequest``.
    /// - Returns: The times at which the cues are shown, as a JSON object.
    /// - Throws: 404 for an unknown rendition, 409 before the program has begun, 422 for mistakes in the cues, 429 if there
    ///   are too many cues.
    package func add(_ name: String, _ body: [UInt8]) throws(ControlFailure) -> String {
        try self.host.checkOpen()
        let pipeline = self.host.pipeline
        guard let rendition = pipeline.subtitles.first(where: { $0.name == name }), let packager = self.packager else {
            let known = pipeline.subtitles.map(\.name).joined(separator: ", ")
            throw .notFound(
                "this room has no subtitle rendition \"\(name.prefix(64))\"",
                fix: known.isEmpty ? "add it to \"subtitles\" of the pipeline" : "use one of: \(known)")
        }
        let request: SubtitleRequest
        switch SubtitleRequest.parse(body) {
        case .success(let parsed): request = parsed
        case .failure(let refusal): throw .refused(refusal.mistakes, as: ControlFailure.invalidFormat(_:fix:status:))
        }
        guard self.host.isLive else { throw .programHasNotBegun }
        let time = TimeMath.scale(self.program.tick, by: 1_000, over: Int64(max(1, pipeline.canvas.fps)))
        var cues: [SubtitleCue] = []
        for (index, cue) in request.cues.enumerated() {
            cues.append(try Self.cue(cue, at: time, markup: rendition.markup, "cues[\(index)].text"))
        }
        let shown: [SubtitleCue]
        do throws(SubtitleCues.Refused) {
            shown =
                try packager.addSubtitles(
                    cues, to: name, programTime: time, now: self.host.clocks.machine.now()) ?? []
        } catch {
            throw Self.failure(error)
        }
        return Self.reply(name, cues, shown)
    }

    private static func cue(
        _ cue: SubtitleRequest.Cue, at time: Int64, markup: Bool, _ path: String
    ) throws(ControlFailure) -> SubtitleCue {
        let text = SubtitleText.payload(cue.text, markup: markup)
        guard !text.isEmpty else {
            throw .invalidValue(path, "has no visible character", fix: "send a text")
        }
        guard text.utf8.count <= SubtitleText.longest else {
            throw .invalidValue(
                path, "has more than \(SubtitleText.longest) bytes with its escapes", fix: "send several cues")
        }
        let start = cue.startMs.map { Int64($0) } ?? time
        let end = cue.endMs.map { Int64($0) } ?? start + Int64(cue.durationMs ?? SubtitleRequest.durations.lowerBound)
        return SubtitleCue(start: start, end: end, text: text)
    }

    private static func reply(_ name: String, _ asked: [SubtitleCue], _ shown: [SubtitleCue]) -> String {
        let cues = zip(asked, shown).map { asked, shown -> JSONValue in
            [
                "startMs": .integer(shown.start), "endMs": .integer(shown.end),
                "late": .bool(asked.start != shown.start),
            ]
        }
        let reply: JSONValue = ["subtitles": .string(name), "cues": .array(cues)]
        return reply.text
    }

    private static func failure(_ refused: SubtitleCues.Refused) -> ControlFailure {
        let cue = "cues[\(refused.index)]"
        return switch refused.reason {
        case .past:
            .invalidValue(
                cue, "ended more than \(SubtitleCues.longestDelay / 1_000) s ago", fix: "send cues sooner")
        case .future:
            .invalidValue(
                cue, "starts more than \(SubtitleCues.longestLead / 1_000) s ahead",
                fix: "send it later; times are milliseconds of program time")
        case .crowded:
            .limitExceeded(
                "\(cue) would be shown together with \(SubtitleCues.mostAtOnce) others",
                fix: "combine cues of the same time")
        case .full:
            .limitExceeded(
                "\(SubtitleCues.mostCues) cues wait already", fix: "send cues nearer to their time")
        case .tooMany:
            .limitExceeded(
                "the rendition gets more than \(SubtitleCues.rate) cues per second", fix: "combine cues, or wait")
        }
    }
}
