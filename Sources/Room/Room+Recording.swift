import HLS
package import MediaTypes
package import PipelineSpec
package import Recording
import Stages
import Synchronization

extension RecordingSettings {
    /// What a pipeline asks to be recorded; `nil`: nothing.
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

/// What becomes of a recording, as events.
package struct RecordingReport: Sendable {
    private let events: RoomEvents
    private let settings: RecordingSettings

    /// Nanoseconds between two reports of the progress.
    private static let pace: Int64 = 1_000_000_000

    package init(_ settings: RecordingSettings, events: RoomEvents) {
        self.settings = settings
        self.events = events
    }

    /// Makes the files and tells of it. Blocks.
    ///
    /// - Returns: What went wrong; the files are made when the room is started again.
    @discardableResult
    package func finish() -> MediaError? {
        self.events.emit("recording.finishing", ["path": .string(self.settings.directory)])
        do throws(MediaError) {
            let clock = SystemClock()
            var told = clock.now()
            let finished = try RecordingFinisher(self.settings).run { done, total in
                guard clock.now() &- told >= Self.pace else { return }
                told = clock.now()
                self.events.emit("recording.progress", ["bytes": JSONValue(done), "of": JSONValue(total)])
            }
            self.events.emit(
                "recording.ready", ["path": .string(self.settings.directory), "recording": finished.summary])
            return nil
        } catch {
            self.events.emit("recording.failed", ["reason": .string(error.description)])
            return error
        }
    }
}

extension Room {
    func recorder(did event: Recorder.Event) {
        switch event {
        case .stopped(let error):
            self.logger.error("nothing is recorded any more", metadata: ["error": "\(error)"])
            self.events.emit("recording.stopped", ["reason": .string(error.description)])
        }
    }

    /// The files of a room that is over; a worker that leaves the room to another leaves it the recording too.
    func finishRecording(_ outcome: RoomOutcome) async {
        guard let recorder = self.recorder else { return }
        recorder.settle()
        guard case .ended = outcome, let settings = RecordingSettings(self.pipeline) else { return }
        await withCheckedContinuation { continuation in
            _ = StageThread("record") {
                RecordingReport(settings, events: self.events).finish()
                continuation.resume()
            }
        }
    }
}
