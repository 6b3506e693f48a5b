import Encoding
package import LibAV
package import MediaTypes
package import PipelineSpec

/// Writes the program's frames to the raw outputs. Used only by the program thread.
package final class RawOutputs: @unchecked Sendable {
    // @unchecked Sendable: opened before the program's thread starts, then touched by that thread alone.
    private var writers: [(outputID: String, writer: RawWriter)] = []
    private let host: LateHost

    private init(_ host: @escaping LateHost) { self.host = host }

    /// Opens the files of the raw outputs.
    ///
    /// - Throws: ``MediaError/Code/notCreatable`` if a file cannot be opened; ``MediaError/Code/outputLost`` if its header
    ///   cannot be written.
    package static func open(_ pipeline: Pipeline, host: @escaping LateHost) throws(MediaError) -> RawOutputs {
        let outputs = RawOutputs(host)
        let canvas = pipeline.canvas
        for raw in pipeline.raws {
            let writer = try RawWriter.open(
                path: raw.path, width: canvas.width, height: canvas.height, fps: canvas.fps)
            outputs.writers.append((raw.outputID, writer))
        }
        return outputs
    }

    /// Writes a frame to all raw outputs. If a write fails, then this frame and all later ones are missing from that output.
    package func write(_ picture: Picture) {
        for (outputID, writer) in self.writers {
            do throws(MediaError) {
                try writer.write(picture)
            } catch {
                self.host()?.lost(of: outputID, because: error)
            }
        }
    }
}
