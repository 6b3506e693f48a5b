import Control
import MediaTypes
import Packager
import PipelineSpec
import Stages

/// Outputs of transport streams beside the HLS output.
extension Room {
    /// They are told what the packager lists, and viewers of its listener can have what they make.
    ///
    /// - Throws: ``MediaError/Code/notCreatable`` for a directory that cannot be written.
    static func makeTransports(
        _ pipeline: Pipeline, _ packager: HLSPackager,
        notify: @escaping @Sendable (_ outputID: String, MediaError?) -> Void
    ) throws(MediaError) -> [TransportStreams] {
        var outputs: [TransportStreams] = []
        for output in pipeline.transports {
            let id = output.outputID
            let made = TransportStreams(
                outputID: id, packager: packager, store: DirectoryStore(directory: output.path),
                multivariantName: output.multivariantPlaylist, waits: pipeline.clock == .offline
            ) { notify(id, $0) }
            try made.begin()
            outputs.append(made)
        }
        guard !outputs.isEmpty else { return [] }
        packager.serve { [outputs] name in
            for output in outputs where name.hasPrefix("\(output.outputID)/") {
                return output.object(named: String(name.dropFirst(output.outputID.utf8.count + 1)))
            }
            return nil
        }
        return outputs
    }

    /// What becomes of an output beside the first, as events.
    func output(_ outputID: String, did error: MediaError?) {
        guard let error else {
            return self.logger.info("an output is all right again", metadata: ["output": "\(outputID)"])
        }
        self.logger.warning("an output fails", metadata: ["output": "\(outputID)", "error": "\(error)"])
        self.events.emit("output.failed", ["outputId": .string(outputID), "reason": .string(error.description)])
    }

    /// Completes the transport streams. A disk that hangs is left behind, and what it lacks then is lost.
    func finishTransports(_ threads: [StageThread], _ outcome: RoomOutcome, by deadline: Int64) {
        for output in self.transports { output.finish() }
        for (thread, output) in zip(threads, self.transports) {
            if self.isOffline {
                thread.join()
                if case .ended = outcome, output.loss.isEndMissing {
                    self.lost(of: output.outputID, because: output.loss.failure ?? Self.noTransportEnd(output))
                }
            } else if !thread.join(within: deadline &- self.machine.now()), case .ended = outcome {
                // No other worker completes it: the room has ended.
                self.lost(of: output.outputID, because: Self.noTransportEnd(output))
            }
        }
    }

    private static func noTransportEnd(_ output: TransportStreams) -> MediaError {
        MediaError(
            .outputLost, "the directory did not take the transport streams' end in time",
            at: "outputs[\(output.outputID)]",
            fix: "take its playlists off the web: they say that the room goes on; the hls output is whole")
    }
}
