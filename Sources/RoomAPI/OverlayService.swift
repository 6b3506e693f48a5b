package import Control
package import LibAV
import MediaTypes
package import PipelineSpec
package import Program

/// Plays the overlays of the pipeline on request, and reports their starts and ends.
package struct OverlayService: Sendable {
    private let host: any APIHost
    private let program: ProgramStage
    private let metadata: MetadataService

    package init(_ host: any APIHost, _ program: ProgramStage, _ metadata: MetadataService) {
        (self.host, self.program, self.metadata) = (host, program, metadata)
    }

    /// Plays an overlay, at once or when earlier plays have ended.
    ///
    /// - Returns: The number of the play, and its first tick if that is known, as a JSON object.
    /// - Throws: 404 for an unknown overlay, 409 before the program has begun, 422 for a rectangle outside the canvas, 429 if
    ///   the machine is overloaded or too many plays wait.
    package func play(_ name: String, _ options: OverlayOptions) throws(ControlFailure) -> String {
        try self.host.checkOpen()
        let pipeline = self.host.pipeline
        guard let overlay = pipeline.overlays.first(where: { $0.name == name }) else {
            let known = pipeline.overlays.map(\.name).sorted()
            let shown =
                known.prefix(8).joined(separator: ", ") + (known.count > 8 ? " and \(known.count - 8) more" : "")
            throw .notFound(
                "this room has no overlay \"\(name.prefix(64))\"",
                fix: known.isEmpty ? "add it to \"overlays\" of the pipeline" : "use one of: \(shown)")
        }
        guard self.host.isLive else { throw .programHasNotBegun }
        let request = OverlayRequest(
            name: overlay.name, path: overlay.path, alpha: AnimationAlpha(overlay.alpha),
            box: try Self.box(overlay, options, on: pipeline.canvas), loops: options.loops ?? 1,
            volume: Float(options.volume ?? overlay.volume) / 100)
        let outcome: OverlayLineup.Outcome
        do throws(OverlayLineup.Refusal) {
            outcome = try self.program.overlays.play(request, at: self.program.tick)
        } catch {
            throw Self.failure(error)
        }
        switch outcome {
        case .starts(let id, let tick):
            self.tellViewers(OverlayLineup.Start(id: id, request: request, tick: tick))
            return Self.reply(name, id, "scheduled", nil, self.host.effect(at: tick))
        case .waits(let id, let position):
            return Self.reply(name, id, "queued", position, self.host.effect(at: nil))
        }
    }

    private static func reply(
        _ name: String, _ id: Int64, _ state: String, _ position: Int?, _ effect: EffectTime
    ) -> String {
        JSONValue.object(
            [
                .init("overlay", .string(name)), .init("playId", .integer(id)), .init("state", .string(state)),
                .init("position", position.map { JSONValue($0) } ?? .null),
            ] + effect.members
        ).text
    }

    private static func failure(_ refusal: OverlayLineup.Refusal) -> ControlFailure {
        switch refusal {
        case .full:
            .limitExceeded(
                "\(OverlayLineup.mostActive) overlays are played and \(OverlayLineup.mostWaiting) more wait",
                fix: "repeat the request after the next overlay.ended event")
        case .paused:
            .limitExceeded(
                "this machine is overloaded, so no overlays are played",
                fix: "repeat the request later, or give the room more CPU time")
        case .closed: .roomExited("the program has ended", fix: "start a new room")
        }
    }

    /// The rectangle that an animation is fitted into: that of the request, otherwise that of the pipeline.
    private static func box(
        _ overlay: Pipeline.Overlay, _ options: OverlayOptions, on canvas: Pipeline.Canvas
    ) throws(ControlFailure) -> PixelRect {
        let (x, y) = ((options.x ?? overlay.x) & ~1, (options.y ?? overlay.y) & ~1)
        let width = (options.width ?? overlay.width ?? canvas.width - x) & ~1
        let height = (options.height ?? overlay.height ?? canvas.height - y) & ~1
        guard x >= 0, y >= 0, width >= 2, height >= 2, x + width <= canvas.width, y + height <= canvas.height else {
            throw .invalidLayout(
                "the rectangle \(width)x\(height) at \(x),\(y) reaches beyond the canvas",
                fix: "choose a rectangle inside \(canvas.width)x\(canvas.height)")
        }
        return PixelRect(x: x, y: y, width: width, height: height)
    }

    /// Starts the waiting plays for which there is space now, ends all plays while the machine is overloaded, and emits the
    /// events of plays. Called regularly, on one thread.
    package func step(isPaused: Bool) {
        let overlays = self.program.overlays
        overlays.setPaused(isPaused, at: self.program.tick)
        for start in overlays.startWaiting(at: self.program.tick) { self.tellViewers(start) }
        for report in overlays.takeReports() { self.tell(report) }
        overlays.cleanCache(at: self.program.tick) { Set(self.host.pipeline.overlays.map(\.path)) }
    }

    private func tellViewers(_ start: OverlayLineup.Start) {
        let data: JSONValue = [
            "overlay": .string(start.request.name), "playId": .integer(start.id), "tick": .integer(start.tick),
        ]
        self.metadata.announce("overlay.started", data.text, at: start.tick)
    }

    private func tell(_ report: OverlayReport) {
        var reason = "played"
        var problem: String?
        switch report.event {
        case .started:
            self.host.events.emit(
                "overlay.started",
                [
                    "overlay": .string(report.name), "playId": .integer(report.id),
                    "tick": report.tick.map { .integer($0) } ?? .null,
                ])
            return
        case .ended(nil): break
        case .ended(let error?): (reason, problem) = ("failed", error.description)
        case .overload: reason = "overload"
        case .closed: reason = "closed"
        }
        let tick = report.tick.map { JSONValue.integer($0) } ?? .null
        self.host.events.emit(
            "overlay.ended",
            [
                "overlay": .string(report.name), "playId": .integer(report.id), "tick": tick,
                "reason": .string(reason), "error": problem.map { .string($0) } ?? .null,
            ])
        let data: JSONValue = [
            "overlay": .string(report.name), "playId": .integer(report.id), "reason": .string(reason),
        ]
        // Not before the announced start.
        self.metadata.announce("overlay.ended", data.text, at: report.tick ?? report.planned ?? 0)
    }
}

extension AnimationAlpha {
    /// Where the transparency of an overlay of the pipeline is.
    package init(_ side: Pipeline.Overlay.Side?) {
        switch side {
        case .left: self = .left
        case .right: self = .right
        case nil: self = .own
        }
    }
}
