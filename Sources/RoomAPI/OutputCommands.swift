package import Control
package import Encoding
import MediaTypes
package import PipelineSpec
package import Recording

/// The interface that commands for outputs use to reach the room.
package protocol OutputCommandHost: APIHost {
    /// Nanoseconds since program time 0; nil before the program runs.
    var programTime: Int64? { get }

    /// Calls `body` while the room's document is locked against changes.
    func holdingDocument<Result: Sendable, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure)
        -> Result

    /// Closes the connection of an RTMP output and connects again.
    ///
    /// - Returns: False for an offline job, which connects to no RTMP server.
    func restart(_ output: RTMPOutput, in pipeline: Pipeline) throws(ControlFailure) -> Bool

    /// Called when a command has started a recording.
    func recordingBegan()
}

/// Carries out commands for one output or one rendition.
package struct OutputCommands: OutputControlling {
    private let host: any OutputCommandHost
    private let recorder: SessionRecorder?
    private let ladder: EncodingStage
    private let announce: @Sendable (_ track: Int, _ seconds: Int64) -> Bool

    /// - Parameters:
    ///   - recorder: Writes recordings; nil if the pipeline has no output of type `record`.
    ///   - announce: Keeps a rendition awake for some seconds, and returns whether it is awake.
    package init(
        _ host: any OutputCommandHost, _ recorder: SessionRecorder?, _ ladder: EncodingStage,
        announce: @escaping @Sendable (_ track: Int, _ seconds: Int64) -> Bool
    ) {
        (self.host, self.recorder, self.ladder, self.announce) = (host, recorder, ladder, announce)
    }

    /// Disconnects an RTMP output and connects again; see ``OutputControlling/restart(_:)``.
    package func restart(_ id: String) throws(ControlFailure) -> String {
        try self.host.checkOpen()
        try self.host.holdingDocument { () throws(ControlFailure) in
            let pipeline = self.host.pipeline
            let output = try Self.output(id, in: pipeline)
            guard case .rtmp(let push) = output, try self.host.restart(push, in: pipeline) else {
                throw ControlFailure.conflict(
                    "\(id) is of the type \(output.typeName), which has no connection to restart",
                    fix: "restart only outputs of the type rtmp; to restart all outputs, drain the worker")
            }
        }
        self.host.events.emit("output.restarted", ["outputId": .string(id)])
        return (["outputId": .string(id), "accepted": "restart"] as JSONValue).text
    }

    private static func output(_ id: String, in pipeline: Pipeline) throws(ControlFailure) -> Output {
        guard let output = pipeline.outputs.first(where: { $0.outputID == id }) else {
            let known = pipeline.outputs.map(\.outputID).joined(separator: ", ")
            throw .notFound("this room has no output \(id.prefix(64))", fix: "use one of: \(known)")
        }
        return output
    }

    /// Starts the recording of an output; see ``OutputControlling/start(_:)``.
    package func start(_ id: String) throws(ControlFailure) -> String {
        let (recorder, frame) = try self.recorder(of: id)
        do throws(MediaError) {
            if let path = try recorder.start(at: frame) {
                self.host.recordingBegan()
                self.host.events.emit("output.started", ["outputId": .string(id), "path": .string(path)])
            }
        } catch {
            throw .conflict(error.what, fix: error.fix)
        }
        return Self.answer(id, "start", recorder)
    }

    /// Ends the recording of an output; see ``OutputControlling/stop(_:)``.
    package func stop(_ id: String) throws(ControlFailure) -> String {
        let (recorder, frame) = try self.recorder(of: id)
        do throws(MediaError) {
            if let path = try recorder.stop(at: frame) {
                self.host.events.emit(
                    "output.stopped",
                    [
                        "outputId": .string(id), "path": .string(path),
                        "reason": .string("an operator has stopped the output"),
                    ])
            }
        } catch {
            throw .conflict(error.what, fix: error.fix)
        }
        return Self.answer(id, "stop", recorder)
    }

    /// The recorder of a `record` output, and the number of the frame on air; nil for the frame if the program has not
    /// begun.
    private func recorder(of id: String) throws(ControlFailure) -> (SessionRecorder, frame: Int64?) {
        try self.host.checkOpen()
        let pipeline = self.host.pipeline
        let output = try Self.output(id, in: pipeline)
        guard case .record = output, let recorder = self.recorder else {
            throw .conflict(
                "\(id) is of the type \(output.typeName), which cannot be started or stopped",
                fix: "start and stop only outputs of the type record; remove others from the room's document")
        }
        let fps = Int64(pipeline.canvas.fps)
        let frame = self.host.programTime.map {
            TimeMath.scale($0, by: fps, over: TimeMath.nanoseconds, rounding: .down)
        }
        return (recorder, frame)
    }

    private static func answer(_ id: String, _ verb: String, _ recorder: SessionRecorder) -> String {
        let answer: JSONValue = [
            "outputId": .string(id), "accepted": .string(verb), "state": .string(recorder.status.rawValue),
        ]
        return answer.text
    }

    /// Requests a key frame from the encoder of a rendition; see ``OutputControlling/requestKeyframe(_:)``.
    package func requestKeyframe(_ rendition: String) throws(ControlFailure) -> String {
        self.ladder.control.requestKeyframe(track: try self.track(of: rendition))
        return (["rendition": .string(rendition), "accepted": "keyframe"] as JSONValue).text
    }

    /// Keeps a rendition awake; see ``OutputControlling/announceDemand(_:seconds:)``.
    package func announceDemand(_ rendition: String, seconds: Int) throws(ControlFailure) -> String {
        let isAwake = self.announce(try self.track(of: rendition), Int64(seconds))
        return (["rendition": .string(rendition), "accepted": "demand", "awake": .bool(isAwake)] as JSONValue).text
    }

    /// The encoder track of a rendition.
    ///
    /// - Throws: 404 for an unknown rendition, 409 before the program has begun.
    private func track(of rendition: String) throws(ControlFailure) -> Int {
        try self.host.checkOpen()
        let videoRenditions = self.host.pipeline.videoRenditions
        guard let track = videoRenditions.firstIndex(where: { $0.name == rendition }) else {
            let known = videoRenditions.map(\.name).joined(separator: ", ")
            throw .notFound("no video rendition is named \(rendition.prefix(64))", fix: "use one of: \(known)")
        }
        guard self.host.isLive else { throw .programHasNotBegun }
        return track
    }
}
