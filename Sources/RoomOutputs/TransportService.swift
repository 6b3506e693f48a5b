package import MediaTypes
package import Packager
package import PipelineSpec
package import Threading

/// The MPEG-TS outputs, which are converted from the HLS output.
package struct TransportService: OutputService {
    let host: any OutputsHost

    /// Opens the MPEG-TS outputs. They convert the segments that the packager lists, and the viewers' listener serves
    /// the converted files.
    ///
    /// - Throws: ``MediaError/Code/notCreatable`` if a directory cannot be written.
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

    /// Reports that an output cannot be written, or that it works again if `error` is nil.
    private func report(_ error: MediaError?, of outputID: String) {
        guard let error else {
            return self.logger.info("an MPEG-TS output works again", metadata: ["output": "\(outputID)"])
        }
        self.logger.warning("an MPEG-TS output fails", metadata: ["output": "\(outputID)", "error": "\(error)"])
        self.events.emit("output.failed", ["outputId": .string(outputID), "reason": .string(error.description)])
    }

    /// Starts a thread for each MPEG-TS output.
    package func start() -> [StageThread] {
        self.stages.transports.map { output in StageThread("ts") { output.run() } }
    }

    /// Completes the MPEG-TS outputs. Does not wait beyond the deadline for a disk that hangs; segments that are not
    /// written by then are lost.
    ///
    /// - Parameters:
    ///   - threads: The threads returned by ``start()``.
    ///   - hasEnded: Whether the room has ended, so that no other worker completes the outputs.
    ///   - deadline: Time on the monotonic clock; ignored for an offline job.
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
            .outputLost, "the end of the transport streams could not be written in time",
            at: "outputs[\(output.outputID)]",
            fix: "remove its playlists from the web server, since they lack their end; the hls output is complete")
    }
}
