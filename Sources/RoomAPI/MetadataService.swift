package import Control
package import HLS
package import MediaTypes
package import Packager
import PipelineSpec
package import Program

/// An output that carries events and layouts in its frames.
package protocol CueCarrier: Sendable {
    /// Begins to put data of the pipeline's `sei` into frames.
    func carry(_ plan: UserDataPlan)
    /// Puts an event into the frame that it names.
    func cue(_ cue: FrameMetadata)
    /// Describes another layout from `frame` on.
    func show(_ layout: [JSONValue.Member], from frame: Int64, isScheduled: Bool)
}

extension HLSPackager: CueCarrier {}

/// Timed metadata: events that commands and publishers send to viewers, and what frames say by themselves.
package struct MetadataService: Sendable {
    private let host: any APIHost
    /// nil: the room has no HLS output.
    private let packager: HLSPackager?
    private let carriers: [any CueCarrier]
    private let program: ProgramStage

    /// - Parameters:
    ///   - packager: nil: the room has no HLS output.
    ///   - live: RTMP outputs and HTTP-FLV.
    package init(_ host: any APIHost, _ program: ProgramStage, packager: HLSPackager?, live: (any CueCarrier)?) {
        self.host = host
        self.packager = packager
        self.carriers = [packager, live].compactMap { $0 }
        self.program = program
    }

    /// Bytes of an event as viewers get it: as many as other services take.
    private static let longestEvent = Pipeline.SEI.longestText
    /// Characters of a state, which stands in every playlist.
    private static let longestState = 512
    /// Begins the `CLASS` of a state's range; its type follows. Attributes: `X-TANDEM-TYPE`, and `X-TANDEM-TEXT` or
    /// `X-TANDEM-DATA`, percent-encoded as far as a quoted-string needs it.
    private static let stateClass = ProgramMark.lastingClass
    /// Names the text of an ID3 tag.
    private static let tagName = "live.tandem.event"

    /// Sends an event to every viewer, in step with a frame.
    ///
    /// - Parameter body: See ``MetadataRequest``.
    /// - Throws: ``ControlFailure/limitExceeded(_:fix:)`` for more than ``MetadataLimiter/rate``, and what is wrong with the request.
    package func add(_ body: [UInt8]) throws(ControlFailure) -> MetadataReply {
        switch MetadataRequest.parse(body) {
        case .success(let request): return try self.add(request)
        case .failure(let refusal): throw .refused(refusal.mistakes, as: ControlFailure.invalidFormat(_:fix:status:))
        }
    }

    /// Sends a publisher's message to players as an event of type `source`.
    ///
    /// - Parameter values: An array, as JSON text.
    /// - Returns: False before the program begins, and if other events leave no room for it.
    package func add(from id: SourceID, _ name: String, _ values: String) -> Bool {
        var request = MetadataRequest()
        request.type = "source"
        let (uid, type) = (JSONValue.string(id.uid).text, JSONValue.string(id.streamType.rawValue).text)
        request.data =
            "{\"uid\":\(uid),\"streamType\":\(type),\"name\":\(JSONValue.string(name).text),\"values\":\(values)}"
        return (try? self.add(request, leaving: MetadataLimiter.reserve)) != nil
    }

    /// - Parameter reserve: As in ``MetadataLimiter/add(_:id:state:leaving:now:)``.
    private func add(_ request: MetadataRequest, leaving reserve: Int64 = 0) throws(ControlFailure) -> MetadataReply {
        try self.host.checkOpen()
        guard let packager = self.packager else {
            throw .notFound("this room has no HLS output", fix: "add an output of type hls")
        }
        guard self.host.isLive else { throw .programHasNotBegun }
        let content = Self.content(request)
        let marks = try Self.stateAttributes(request)
        let frame = Result { () throws(ControlFailure) in try self.host.tick(at: request.at) }
        // Two ahead: no encoder has it before every rendition knows of the event.
        let next = self.program.tick &+ 2
        let (entry, number) = try self.host.withAPI { state throws(ControlFailure) in
            do throws(MetadataLimiter.Refusal) {
                if let id = request.id, let known = try state.metadata.known(id, content: content) {
                    return (known, Int64(0))
                }
            } catch {
                throw Self.failure(error, request)
            }
            let asked = try frame.get()
            do throws(MetadataLimiter.Refusal) {
                let entry = MetadataLimiter.Entry(content: content, frame: asked ?? next)
                let number = try state.metadata.add(
                    entry, id: request.id,
                    state: request.state ? (request.type, marks != nil) : nil, leaving: reserve,
                    now: self.host.clocks.machine.now())
                return (entry, number)
            } catch {
                throw Self.failure(error, request)
            }
        }
        if number > 0 {
            let event = Self.event(request, number, self.host.effect(at: entry.frame).appliesAt ?? "")
            let cue = FrameMetadata(
                frame: entry.frame,
                message: packager.message(
                    number: number, at: entry.frame, payload: ID3Tag.text(Self.tagName, event)), userData: event)
            for carrier in self.carriers { carrier.cue(cue) }
            if request.state {
                packager.mark(
                    ProgramMark(
                        rangeClass: Self.stateClass + request.type, tick: entry.frame,
                        isScheduled: request.at != nil, attributes: marks))
            }
            self.host.events.emit(
                "metadata.taken",
                [
                    "id": .string(Self.id(request, number)), "kind": .string(request.type),
                    "tick": .integer(entry.frame),
                    "state": .bool(request.state),
                ])
        }
        return MetadataReply(
            id: Self.id(request, number), type: request.type, changed: number > 0,
            effect: self.host.effect(at: entry.frame))
    }

    /// What tells two requests apart.
    private static func content(_ request: MetadataRequest) -> String {
        JSONValue.array([
            .string(request.type), JSONValue(request.text), JSONValue(request.data), JSONValue(request.at),
            .bool(request.state),
        ]).text
    }

    /// As viewers get it: its sender's, or one made of its number.
    private static func id(_ request: MetadataRequest, _ number: Int64) -> String { request.id ?? "n\(number)" }

    /// The event as viewers get it: one JSON object.
    private static func event(_ request: MetadataRequest, _ number: Int64, _ date: String) -> String {
        var members = [
            "\"id\":\(JSONValue.string(Self.id(request, number)).text)",
            "\"type\":\(JSONValue.string(request.type).text)", "\"at\":\(JSONValue.string(date).text)",
        ]
        if let text = request.text { members.append("\"text\":\(JSONValue.string(text).text)") }
        if let data = request.data { members.append("\"data\":\(data)") }
        if request.state { members.append("\"state\":true") }
        return "{\(members.joined(separator: ","))}"
    }

    /// The range of a state; `nil` where it ends, and for what is no state.
    private static func stateAttributes(
        _ request: MetadataRequest
    ) throws(ControlFailure) -> [DateRange.Attribute]? {
        guard Self.event(request, .max, "2026-01-01T00:00:00.000Z").utf8.count <= Self.longestEvent else {
            throw .inputTooLarge(
                "the event has more than \(Self.longestEvent) bytes with its id, type and date", fix: "say less")
        }
        guard request.state, let said = request.text ?? request.data else { return nil }
        let value = Self.percentEncoded(said)
        guard value.count <= Self.longestState else {
            throw .invalidValue(
                request.text == nil ? "data" : "text",
                "a state has at most \(Self.longestState) characters: it stands in every playlist",
                fix: "say less, or leave \"state\" out")
        }
        return [
            DateRange.Attribute("TANDEM-TYPE", request.type),
            DateRange.Attribute(request.text == nil ? "TANDEM-DATA" : "TANDEM-TEXT", value),
        ]
    }

    /// Everything that a quoted-string cannot hold, and the percent sign, as in a URI.
    private static func percentEncoded(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22, 0x25, 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0xFEFF:
                for byte in String(scalar).utf8 {
                    result += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
                }
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func failure(_ refusal: MetadataLimiter.Refusal, _ request: MetadataRequest) -> ControlFailure {
        switch refusal {
        case .taken:
            ControlFailure(
                code: "duplicateId", number: 1403, status: 409,
                what: "\"\(request.id ?? "")\" is another event already", fix: "give each event an id of its own")
        case .tooMany:
            .limitExceeded(
                "more than \(MetadataLimiter.rate) events a second", fix: "put several things into one event, or wait")
        case .tooManyStates:
            .limitExceeded(
                "\(MetadataLimiter.mostStates) types have a state already",
                fix: "end one: send its type with \"state\": true and neither text nor data")
        }
    }

    // MARK: What frames say by themselves

    /// Begins to put data into frames as the pipeline's `sei` says. Called before the first frame is encoded.
    ///
    /// - Parameter origin: Program time 0, in nanoseconds since the Unix epoch.
    package func beginUserData(origin: Int64) {
        let pipeline = self.host.pipeline
        guard let sei = pipeline.sei else { return }
        let fps = pipeline.canvas.fps
        let plan = UserDataPlan(
            identifier: sei.identifier, interval: (Int64(sei.intervalMs) * Int64(fps) + 999) / 1000,
            followsIDR: sei.followIDR, extraInfo: sei.extraInfo, origin: origin, fps: fps)
        for carrier in self.carriers { carrier.carry(plan) }
    }

    /// Describes the scene that is on air from a frame on, if the pipeline's `sei` asks for that.
    ///
    /// - Parameter left: Sources whose panes have left it.
    package func showLayout(of scene: Program.Scene, without left: Set<SourceID>, at tick: Int64, isScheduled: Bool) {
        let pipeline = self.host.pipeline
        guard pipeline.sei?.layout == true else { return }
        let size = scene.canvas(
            in: Program.Canvas(
                width: pipeline.canvas.width, height: pipeline.canvas.height, fps: pipeline.canvas.fps))
        let color = pipeline.scene(scene.sceneID)?.backgroundColor ?? pipeline.canvas.backgroundColor
        let regions = scene.panes.filter { $0.videoPush && !left.contains($0.source) }.map { pane -> JSONValue in
            let volume =
                pane.audioPush
                ? pane.volume.map { Int64($0 * 100 + 0.5) } ?? Int64(pipeline.source(pane.source)?.volume ?? 100) : 0
            return [
                "uid": .string(pane.source.uid), "alpha": 1, "zorder": JSONValue(pane.zOrder),
                "volume": .integer(volume), "x": JSONValue(pane.rect.x), "y": JSONValue(pane.rect.y),
                "w": JSONValue(pane.rect.width), "h": JSONValue(pane.rect.height),
            ]
        }
        let layout: [JSONValue.Member] = [
            .init(
                "canvas",
                ["w": JSONValue(size.width), "h": JSONValue(size.height), "bgnd": .string(color.description)]),
            .init("regions", .array(regions)),
        ]
        for carrier in self.carriers { carrier.show(layout, from: tick, isScheduled: isScheduled) }
    }
}
