package import MediaTypes
package import PipelineSpec
package import Recording

/// Makes the files of a recording session, and emits events about the progress and result.
package struct RecordingReport: Sendable {
    private let events: any OutputEvents
    private let settings: RecordingSettings
    private let clock: any MonotonicClock
    /// Whether the room continues, so that another recording session may follow.
    package var isOnAir = false
    /// Called after each step. If it returns true, then the rest is left to another worker.
    package var isCalledOff: @Sendable () -> Bool = { false }

    /// Time between two events about the progress, in nanoseconds.
    private static let pace: Int64 = 1_000_000_000

    /// - Parameter clock: The clock for the rate of progress events and for the deadline.
    package init(_ settings: RecordingSettings, events: any OutputEvents, clock: any MonotonicClock) {
        self.settings = settings
        self.events = events
        self.clock = clock
    }

    /// Makes the files of the session and emits events. Blocks.
    ///
    /// - Parameters:
    ///   - deadline: Time on the clock, in nanoseconds. The step in progress at this time is finished, and the rest is
    ///     left to another worker. nil means no deadline.
    ///   - advanced: Called after each step.
    /// - Returns: The error, if the files could not be made; then they are left to a later attempt. nil on success.
    @discardableResult
    package func finish(by deadline: Int64? = nil, advanced: @escaping () -> Void = {}) -> MediaError? {
        let (path, onAir) = (JSONValue.string(self.settings.directory), JSONValue.bool(self.isOnAir))
        self.events.emit("recording.finishing", ["path": path, "onAir": onAir])
        do throws(MediaError) {
            let clock = self.clock
            var told = clock.now()
            var now = told
            let finished = try RecordingFinisher(self.settings).run(
                until: { self.isCalledOff() || (deadline.map { now > $0 } ?? false) }
            ) { done, total in
                now = clock.now()
                advanced()
                guard now &- told >= Self.pace else { return }
                told = now
                self.events.emit("recording.progress", ["bytes": JSONValue(done), "of": JSONValue(total)])
            }
            self.events.emit("recording.ready", ["path": path, "onAir": onAir, "recording": finished.summary])
            return nil
        } catch {
            let type = error.code == .unfinished ? "recording.unfinished" : "recording.failed"
            self.events.emit(type, ["path": path, "onAir": onAir, "reason": .string(error.description)])
            return error
        }
    }
}

extension RecordingSettings {
    /// The recording settings of a pipeline; nil if it records nothing.
    package init?(_ pipeline: Pipeline) {
        guard let record = pipeline.record, let hls = pipeline.hls else { return nil }
        self.init(
            directory: record.path, roomID: pipeline.room.roomID, title: pipeline.room.title,
            movies: pipeline.recordedRenditions.map {
                Movie(video: $0.isAudioOnly ? nil : $0.name, audio: $0.audio.first)
            },
            multivariantName: hls.multivariantPlaylist, keepsSegments: record.vodPlaylist)
        self.waits = pipeline.clock == .offline
    }
}
