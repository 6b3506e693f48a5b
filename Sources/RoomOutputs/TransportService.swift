package import MediaTypes
package import Packager
package import PipelineSpec
package import Threading

/// MPEG-TS outputs beside the HLS output.
package struct TransportService: OutputService {
    let host: any OutputsHost

    /// Opens the outputs. They get what the packager lists, and the viewers' listener serves what they make.
    ///
    /// - Throws: ``MediaError/Code/notCreatable`` for a directory that cannot be written.
    package static func open(
        _ pipeline: Pipeline, _ packager: HLSPackager, _ host: @escaping LateHost
    ) throws(MediaError) -> [MPEGTSOutput] {
        var outputs: [MPEGTSOutput] = []
        for output in pipeline.transports {
            let id = output.outputID
            let made = MPEGTSOutput(
                outputID: id, packager: packager, store: DirectoryStore(directory: output.path),
                multivariantName: output.multivariantPlaylist, waits: pipeline.clock == .offline
            ) { host()?.outputs.transports.report($0, of: id) }
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

    /// Reports that an output cannot be written; nil: it can again.
    private func report(_ error: MediaError?, of outputID: String) {
        guard let error else {
            return self.logger.info("an output is all right again", metadata: ["output": "\(outputID)"])
        }
        self.logger.warning("an output fails", metadata: ["output": "\(outputID)", "error": "\(error)"])
        self.events.emit("output.failed", ["outputId": .string(outputID), "reason": .string(error.description)])
    }

    /// Starts a thread for each output.
    package func start() -> [StageThread] {
        self.stages.transports.map { output in StageThread("ts") { output.run() } }
    }

    /// Completes the outputs. Does not wait longer for a disk that hangs: what it lacks then is lost.
    ///
    /// - Parameters:
    ///   - threads: What ``start()`` returned.
    ///   - hasEnded: The room is over: no other worker completes them.
    ///   - deadline: On the machine's clock; not for an offline job.
    package func finish(_ threads: [StageThread], hasEnded: Bool, by deadline: Int64) {
        for output in self.stages.transports { output.finish() }
        for (thread, output) in zip(threads, self.stages.transports) {
            if self.stages.isOffline {
                thread.join()
                if hasEnded, output.loss.isEndMissing {
                    self.host.lost(of: output.outputID, because: output.loss.failure ?? Self.noEnd(output))
                }
            } else if !thread.join(within: deadline &- self.machine.now()), hasEnded {
                self.host.lost(of: output.outputID, because: Self.noEnd(output))
            }
        }
    }

    private static func noEnd(_ output: MPEGTSOutput) -> MediaError {
        MediaError(
            .outputLost, "the directory did not take the transport streams' end in time",
            at: "outputs[\(output.outputID)]",
            fix: "take its playlists off the web: they say that the room goes on; the hls output is whole")
    }
}
