package import Control
import MediaTypes
import PipelineSpec
import Recording

/// Commands to one output or one rendition.
extension Room {
    package func restartOutput(_ id: String) throws(ControlFailure) -> String {
        try self.checkOpen()
        // With the document, so that no other version of it comes between.
        try self.documentTurn.withLock { _ throws(ControlFailure) in
            let pipeline = self.pipeline
            let output = try Self.output(id, in: pipeline)
            guard case .rtmp(let push) = output, try self.outputs.pushes.restart(push, in: pipeline) else {
                throw ControlFailure(
                    code: "requestFailed", number: 1417, status: 409,
                    what: "\(id) is of the type \(output.typeName), which has no connection to begin anew",
                    fix: "outputs of the type rtmp can be restarted; drain the worker to begin everything anew")
            }
        }
        self.events.emit("output.restarted", ["outputId": .string(id)])
        return (["outputId": .string(id), "accepted": "restart"] as JSONValue).text
    }

    private static func output(_ id: String, in pipeline: Pipeline) throws(ControlFailure) -> Output {
        guard let output = pipeline.outputs.first(where: { $0.outputID == id }) else {
            let known = pipeline.outputs.map(\.outputID).joined(separator: ", ")
            throw .notFound("this room has no output \(id.prefix(64))", fix: "use one of: \(known)")
        }
        return output
    }

    package func startOutput(_ id: String) throws(ControlFailure) -> String {
        let (recorder, frame) = try self.recorder(of: id)
        do throws(MediaError) {
            if let path = try recorder.start(at: frame) {
                self.withOutputs { $0.disk.recordingBegan() }
                self.events.emit("output.started", ["outputId": .string(id), "path": .string(path)])
            }
        } catch {
            throw Self.refusal(of: error)
        }
        return Self.answer(id, "start", recorder)
    }

    package func stopOutput(_ id: String) throws(ControlFailure) -> String {
        let (recorder, frame) = try self.recorder(of: id)
        do throws(MediaError) {
            if let path = try recorder.stop(at: frame) {
                self.events.emit(
                    "output.stopped",
                    [
                        "outputId": .string(id), "path": .string(path),
                        "reason": .string("an operator has stopped it"),
                    ])
            }
        } catch {
            throw Self.refusal(of: error)
        }
        return Self.answer(id, "stop", recorder)
    }

    /// What records a record output, and the frame on air; `nil`: the program has not begun.
    private func recorder(of id: String) throws(ControlFailure) -> (SessionRecorder, frame: Int64?) {
        try self.checkOpen()
        let pipeline = self.pipeline
        let output = try Self.output(id, in: pipeline)
        guard case .record = output, let recorder = self.recorder else {
            throw ControlFailure(
                code: "requestFailed", number: 1417, status: 409,
                what: "\(id) is of the type \(output.typeName), which goes as long as the room has it",
                fix: "start and stop outputs of the type record; take one of the type rtmp out of the room's document")
        }
        let fps = Int64(pipeline.canvas.fps)
        let frame = self.programTime.map {
            TimeMath.scale($0, by: fps, over: TimeMath.nanoseconds, rounding: .down)
        }
        return (recorder, frame)
    }

    /// Nothing has changed.
    private static func refusal(of error: MediaError) -> ControlFailure {
        ControlFailure(code: "requestFailed", number: 1417, status: 409, what: error.what, fix: error.fix)
    }

    private static func answer(_ id: String, _ verb: String, _ recorder: SessionRecorder) -> String {
        let answer: JSONValue = [
            "outputId": .string(id), "accepted": .string(verb), "state": .string(recorder.status.rawValue),
        ]
        return answer.text
    }

    package func requestKeyframe(_ rendition: String) throws(ControlFailure) -> String {
        try self.checkOpen()
        let pictures = self.pipeline.pictureRenditions
        guard let track = pictures.firstIndex(where: { $0.name == rendition }) else {
            let known = pictures.map(\.name).joined(separator: ", ")
            throw .notFound("no rendition with pictures is named \(rendition.prefix(64))", fix: "use one of: \(known)")
        }
        guard self.state == .live else {
            throw ControlFailure(
                code: "requestFailed", number: 1417, status: 409, what: "the program has not begun",
                fix: "wait for program.started")
        }
        self.ladder.control.requestKeyframe(track: track)
        return (["rendition": .string(rendition), "accepted": "keyframe"] as JSONValue).text
    }

    package func alarmsJSON(_ state: AlarmState) -> String {
        let entries = self.value.withLock(\.alarms.entries).filter { entry in
            switch state {
            case .all: true
            case .set: entry.clearedAt == nil
            case .cleared: entry.clearedAt != nil
            }
        }
        let json: JSONValue = ["alarms": self.json(of: entries)]
        return json.text
    }
}
