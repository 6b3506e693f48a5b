package import Control
import MediaTypes
import PipelineSpec

/// Commands to one output or one rendition.
extension Room {
    package func restartOutput(_ id: String) throws(ControlFailure) -> String {
        try self.checkOpen()
        // With the document, so that no other version of it comes between.
        try self.document.withLock { _ throws(ControlFailure) in
            let pipeline = self.pipeline
            guard let output = pipeline.outputs.first(where: { $0.outputID == id }) else {
                let known = pipeline.outputs.map(\.outputID).joined(separator: ", ")
                throw .notFound("this room has no output \(id.prefix(64))", fix: "use one of: \(known)")
            }
            guard case .rtmp(let push) = output, try self.restart(push, in: pipeline) else {
                throw ControlFailure(
                    code: "requestFailed", number: 1417, status: 409,
                    what: "\(id) is of the type \(output.typeName), which has no connection to begin anew",
                    fix: "outputs of the type rtmp can be restarted; drain the worker to begin everything anew")
            }
        }
        self.events.emit("output.restarted", ["outputId": .string(id)])
        return JSONText.object([("outputId", JSONText.string(id)), ("accepted", JSONText.string("restart"))])
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
        return JSONText.object([("rendition", JSONText.string(rendition)), ("accepted", JSONText.string("keyframe"))])
    }

    package func alarmsJSON(_ state: AlarmState) -> String {
        let entries = self.alarms.withLock(\.entries).filter { entry in
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
