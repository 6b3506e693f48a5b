package import Control
package import HLS
package import MediaTypes
package import Packager
import PipelineSpec
package import Program

/// An output that can carry timed metadata and layouts inside its video frames.
package protocol CueCarrier: Sendable {
    /// Starts to put the data that the pipeline's `sei` configures into frames.
    func carry(_ plan: UserDataPlan)
    /// Puts an event into the frame that it names.
    func cue(_ cue: FrameMetadata)
    /// Replaces the described layout from `frame` on.
    func show(_ layout: [JSONValue.Member], from frame: Int64, isScheduled: Bool)
}

extension HLSPackager: CueCarrier {}

/// Timed metadata for viewers: events sent by commands and publishers, and the data that the pipeline's `sei` puts into
/// frames.
package struct MetadataService: Sendable {
    private let host: any APIHost
    /// Packages the HLS output; nil if the room has none.
    private let packager: HLSPackager?
    private let carriers: [any CueCarrier]
    private let program: ProgramStage

    /// - Parameters:
    ///   - packager: Packages the HLS output; nil if the room has none.
    ///   - live: RTMP outputs and HTTP-FLV; nil for an offline job.
    package init(_ host: any APIHost, _ program: ProgramStage, packager: HLSPackager?, live: (any CueCarrier)?) {
        self.host = host
        self.packager = packager
        self.carriers = [packager, live].compactMap { $0 }
        self.program = program
    }

    /// Largest size of an event as viewers receive it, in bytes.
    private static let longestEvent = Pipeline.SEI.longestText
    /// Largest length of a state in characters, after percent-encoding. Playlists contain the state.
    private static let longestState = 512
    /// Prefix of the `CLASS` of a state's date range; the event's type follows. Attributes: `X-TANDEM-TYPE`, and
    /// `X-TANDEM-TEXT` or `X-TANDEM-DATA`, percent-encoded where a quoted-string requires it.
    private static let stateClass = ProgramMark.lastingClass
    /// Description of the ID3 text frame that contains an event.
    private static let tagName = "live.tandem.event"

    /// Sends an event to all viewers, synchronized with a frame.
    ///
    /// - Parameter body: A JSON object; see ``MetadataRequest``.
    /// - Throws: ``ControlFailure/limitExceeded(_:fix:)`` if the rate limit is exceeded or too many types have a state;
    ///   other errors describe what is wrong with the request, or that the room cannot send events now.
    package func add(_ body: [UInt8]) throws(ControlFailure) -> MetadataReply {
        switch MetadataRequest.parse(body) {
        case .success(let request): return try self.add(request)
        case .failure(let refusal): throw .refused(refusal.mistakes, as: ControlFailure.invalidFormat(_:fix:status:))
        }
    }

    /// Sends a publisher's data message to players as an event of type `source`.
    ///
    /// - Parameter values: The values of the message: an array, as JSON text.
    /// - Returns: False if the message was dropped: the program does not run, the room has no HLS output, the message is
    ///   too large, or the rate limit is exceeded.
    package func add(from id: SourceID, _ name: String, _ values: String) -> Bool {
        var request = MetadataRequest()
        request.type = "source"
        let (uid, type) = (JSONValue.string(id.uid).text, JSONValue.string(id.streamType.rawValue).text)
        request.data =
            "{\"uid\":\(uid),\"streamType\":\(type),\"name\":\(JSONValue.string(name).text),\"values\":\(values)}"
        return (try? self.add(request, leaving: MetadataLimiter.reserve)) != nil
    }

    /// Sends a parsed event.
    ///
    /// - Parameter reserve: Number of events of the rate limit's burst that must remain after this event.
    private func add(_ request: MetadataRequest, leaving reserve: Int64 = 0) throws(ControlFailure) -> MetadataReply {
        try self.host.checkOpen()
        guard let packager = self.packager else {
            throw .notFound("this room has no HLS output", fix: "add an output of type hls")
        }
        guard self.host.isLive else { throw .programHasNotBegun }
        let content = Self.content(request)
        let marks = try Self.stateAttributes(request)
        let frame = Result { () throws(ControlFailure) in try self.host.tick(at: request.at) }
        // Two ticks ahead: no encoder has received that frame yet, so the event is known for every rendition.
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

    /// Sends an event of the room itself, if the rate limit leaves room for it beside the operators' events.
    ///
    /// - Parameters:
    ///   - type: Type of the event, such as `overlay.started`.
    ///   - data: Content as the text of a JSON object.
    ///   - tick: The frame that the event belongs to; if encoders may have received it, then the event goes into the first
    ///     frame that they have not received.
    func announce(_ type: String, _ data: String, at tick: Int64) {
        guard let packager = self.packager, self.host.isLive else { return }
        var request = MetadataRequest()
        (request.type, request.data) = (type, data)
        let entry = MetadataLimiter.Entry(content: Self.content(request), frame: max(tick, self.program.tick &+ 2))
        let number = self.host.withAPI { state in
            try? state.metadata.add(
                entry, id: nil, state: nil, leaving: MetadataLimiter.reserve, now: self.host.clocks.machine.now())
        }
        guard let number else { return }
        let event = Self.event(request, number, self.host.effect(at: entry.frame).appliesAt ?? "")
        let cue = FrameMetadata(
            frame: entry.frame,
            message: packager.message(number: number, at: entry.frame, payload: ID3Tag.text(Self.tagName, event)),
            userData: event)
        for carrier in self.carriers { carrier.cue(cue) }
    }

    /// The part of a request that distinguishes it from another one with the same id.
    private static func content(_ request: MetadataRequest) -> String {
        JSONValue.array([
            .string(request.type), JSONValue(request.text), JSONValue(request.data), JSONValue(request.at),
            .bool(request.state),
        ]).text
    }

    /// The id as viewers receive it: the id given by the sender, or one made from the event's number.
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

    /// Attributes of the date range of a state; nil if the request ends a state or is no state.
    ///
    /// - Throws: ``ControlFailure`` if the event, whether a state or not, or the state is too large.
    private static func stateAttributes(
        _ request: MetadataRequest
    ) throws(ControlFailure) -> [DateRange.Attribute]? {
        guard Self.event(request, .max, "2026-01-01T00:00:00.000Z").utf8.count <= Self.longestEvent else {
            throw .inputTooLarge(
                "the event has more than \(Self.longestEvent) bytes with its id, type and date",
                fix: "shorten the text or data")
        }
        guard request.state, let said = request.text ?? request.data else { return nil }
        let value = Self.percentEncoded(said)
        guard value.count <= Self.longestState else {
            throw .invalidValue(
                request.text == nil ? "data" : "text",
                "is longer than \(Self.longestState) characters after percent-encoding, the limit of a state",
                fix: "shorten it, or leave \"state\" out")
        }
        return [
            DateRange.Attribute("TANDEM-TYPE", request.type),
            DateRange.Attribute(request.text == nil ? "TANDEM-DATA" : "TANDEM-TEXT", value),
        ]
    }

    /// Percent-encodes every character that a quoted-string cannot contain, and the percent sign.
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
                what: "\"\(request.id ?? "")\" was already used by another event", fix: "give each event its own id")
        case .tooMany:
            .limitExceeded(
                "the room gets more than \(MetadataLimiter.rate) events per second",
                fix: "combine several messages in one event, or wait")
        case .tooManyStates:
            .limitExceeded(
                "\(MetadataLimiter.mostStates) types already have a state",
                fix: "end one: send its type with \"state\": true, without text and data")
        }
    }

    // MARK: Data in frames

    /// Starts to put the data that the pipeline's `sei` configures into frames. Called before the first frame is
    /// encoded.
    ///
    /// - Parameter origin: Wall clock time of program time 0, in nanoseconds since the Unix epoch.
    package func beginUserData(origin: Int64) {
        let pipeline = self.host.pipeline
        guard let sei = pipeline.sei else { return }
        let fps = pipeline.canvas.fps
        let plan = UserDataPlan(
            identifier: sei.identifier, interval: (Int64(sei.intervalMs) * Int64(fps) + 999) / 1000,
            followsIDR: sei.followIDR, extraInfo: sei.extraInfo, origin: origin, fps: fps)
        for carrier in self.carriers { carrier.carry(plan) }
    }

    /// Describes the layout of a scene from a frame on, if the pipeline's `sei` asks for layouts.
    ///
    /// - Parameter left: Sources of the scene whose panes are hidden, and therefore not described.
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
