package import Control
import HLS
import MediaTypes
import Packager
import PipelineSpec
import Program

/// What is said in step with the picture: by command, and by the pictures themselves.
extension Room {
    /// Bytes of an event as viewers get it: as many as other services take.
    private static let longestEvent = Pipeline.SEI.longestText
    /// Characters of a state, which stands in every playlist.
    private static let longestState = 512
    /// Begins the `CLASS` of a state's range; its type follows. Attributes: `X-TANDEM-TYPE`, and `X-TANDEM-TEXT` or
    /// `X-TANDEM-DATA`, percent-encoded as far as a quoted-string needs it.
    private static let stateClass = ProgramMark.lastingClass
    /// Names the text of an ID3 tag.
    private static let tagName = "live.tandem.event"

    package func addMetadata(_ body: [UInt8]) throws(ControlFailure) -> MetadataReply {
        switch MetadataRequest.parse(body) {
        case .success(let request): return try self.add(request)
        case .failure(let refusal): throw .refused(refusal.mistakes, as: ControlFailure.invalidFormat(_:fix:status:))
        }
    }

    /// What a publisher says to players, where its source is to be heard: as an event of type `source`.
    ///
    /// - Parameter values: An array, as JSON text.
    func source(_ id: SourceID, says name: String, _ values: String) {
        guard self.pipeline.source(id)?.metadata == true else { return }
        let now = self.machine.now()
        guard self.value.withLock({ $0.sources.data.take(id, now: now) }) else { return }
        var request = MetadataRequest()
        request.type = "source"
        let (uid, type) = (JSONValue.string(id.uid).text, JSONValue.string(id.streamType.rawValue).text)
        request.data =
            "{\"uid\":\(uid),\"streamType\":\(type),\"name\":\(JSONValue.string(name).text),\"values\":\(values)}"
        // Before the program begins, or where other events leave no room for it, it is gone.
        let isTaken = (try? self.add(request, leaving: MetadataDesk.reserve)) != nil
        self.value.withLock { $0.sources.data.note(id, isTaken: isTaken) }
    }

    /// - Parameter reserve: As in ``MetadataDesk/add(_:id:state:leaving:now:)``.
    private func add(_ request: MetadataRequest, leaving reserve: Int64 = 0) throws(ControlFailure) -> MetadataReply {
        try self.checkOpen()
        guard let packager = self.packager else {
            throw .notFound("this room has no HLS output", fix: "add an output of type hls")
        }
        guard let calendar = self.scenes.calendar, self.state == .live else {
            throw ControlFailure(
                code: "requestFailed", number: 1417, status: 409, what: "the program has not begun",
                fix: "wait for program.started")
        }
        let content = Self.content(request)
        let marks = try Self.stateAttributes(request)
        let frame = Result { () throws(ControlFailure) in try self.scenes.tick(at: request.at) }
        // Two ahead: no encoder has it before every rendition knows of the event.
        let next = self.program.tick &+ 2
        let (entry, number) = try self.value.withLock { value throws(ControlFailure) in
            do throws(MetadataDesk.Refusal) {
                if let id = request.id, let known = try value.metadata.known(id, content: content) {
                    return (known, Int64(0))
                }
            } catch {
                throw Self.failure(error, request)
            }
            let asked = try frame.get()
            do throws(MetadataDesk.Refusal) {
                let entry = MetadataDesk.Entry(content: content, frame: asked ?? next)
                let number = try value.metadata.add(
                    entry, id: request.id,
                    state: request.state ? (request.type, marks != nil) : nil, leaving: reserve,
                    now: self.machine.now())
                return (entry, number)
            } catch {
                throw Self.failure(error, request)
            }
        }
        if number > 0 {
            let event = Self.event(request, number, ProgramDate.format(calendar.date(of: entry.frame)))
            let cue = FrameMetadata(
                frame: entry.frame,
                message: packager.message(
                    number: number, at: entry.frame, payload: ID3Tag.text(Self.tagName, event)), userData: event)
            packager.cue(cue)
            self.live?.cue(cue)
            if request.state {
                packager.mark(
                    ProgramMark(
                        rangeClass: Self.stateClass + request.type, tick: entry.frame,
                        isScheduled: request.at != nil, attributes: marks))
            }
            self.events.emit(
                "metadata.taken",
                [
                    "id": .string(Self.id(request, number)), "kind": .string(request.type),
                    "tick": .integer(entry.frame),
                    "state": .bool(request.state),
                ])
        }
        return MetadataReply(
            id: Self.id(request, number), type: request.type, changed: number > 0,
            effect: self.scenes.effect(at: entry.frame))
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

    private static func failure(_ refusal: MetadataDesk.Refusal, _ request: MetadataRequest) -> ControlFailure {
        switch refusal {
        case .taken:
            ControlFailure(
                code: "duplicateId", number: 1403, status: 409,
                what: "\"\(request.id ?? "")\" is another event already", fix: "give each event an id of its own")
        case .tooMany:
            .limitExceeded(
                "more than \(MetadataDesk.rate) events a second", fix: "put several things into one event, or wait")
        case .tooManyStates:
            .limitExceeded(
                "\(MetadataDesk.mostStates) types have a state already",
                fix: "end one: send its type with \"state\": true and neither text nor data")
        }
    }

    // MARK: What pictures say by themselves

    /// The program has begun, and no picture is coded yet.
    func beginUserData(origin: Int64) {
        guard let sei = self.pipeline.sei else { return }
        let fps = self.fps
        let plan = UserDataPlan(
            identifier: sei.identifier, interval: (Int64(sei.intervalMs) * Int64(fps) + 999) / 1000,
            followsIDR: sei.followIDR, extraInfo: sei.extraInfo, origin: origin, fps: fps)
        self.packager?.carry(plan)
        self.live?.carry(plan)
    }

    /// Another scene is on air from a picture on.
    func showLayout(of scene: Program.Scene, without left: Set<SourceID>, at tick: Int64, isScheduled: Bool) {
        let pipeline = self.pipeline
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
        self.packager?.show(layout, from: tick, isScheduled: isScheduled)
        self.live?.show(layout, from: tick, isScheduled: isScheduled)
    }
}
