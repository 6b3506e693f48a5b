package import Control
package import Encoding
package import MediaTypes
package import Packager
package import PipelineSpec

extension Rendition {
    fileprivate var rates: BitRates {
        BitRates(
            bitrate: Int64(self.video.bitrate), maxBitrate: Int64(self.video.maxBitrate),
            bufferSize: Int64(self.video.bufferSize))
    }
}

/// Bit rates of renditions that another version of the document changes while the room runs.
package struct BitRateChanges: Sendable {
    /// By track.
    private var changes: [Int: BitRates] = [:]

    /// Opens an encoder for each of them, on the caller's thread, to see that it fits the initialization segment players have.
    ///
    /// - Throws: What cannot be had without another worker, with everything that is wrong.
    package init(from before: Pipeline, to after: Pipeline, _ ladder: EncodingStage) throws(ControlFailure) {
        var mistakes: [SpecDiagnostic] = []
        for (index, rendition) in after.renditions.enumerated() where !rendition.isAudioOnly {
            guard let old = before.renditions.first(where: { $0.name == rendition.name }), old.rates != rendition.rates,
                let track = ladder.rungs.firstIndex(where: { $0.name == rendition.name })
            else { continue }
            let path = "renditions[\(index)].video"
            do throws(MediaError) {
                if try ladder.takes(rendition.rates, track: track) {
                    self.changes[track] = rendition.rates
                } else {
                    mistakes.append(
                        SpecDiagnostic(
                            path: path, at: .none, what: "these bit rates need another H.264 level",
                            fix: "stay nearer to \(old.video.bitrate), or drain this worker and run the new file"))
                }
            } catch {
                mistakes.append(SpecDiagnostic(path: path, at: .none, what: error.what, fix: error.fix))
            }
        }
        guard mistakes.isEmpty else { throw .refused(mistakes) { what, fix, _ in .needsRestart(what, fix: fix) } }
    }

    /// Declares the rates first, then changes the encoders.
    ///
    /// - Parameter others: Gets each track and its rates between the two.
    package func apply(to packager: HLSPackager?, _ ladder: EncodingStage, others: (_ track: Int, BitRates) -> Void) {
        for (track, rates) in self.changes {
            packager?.declare(rates, track: track)
            others(track, rates)
            ladder.control.setRates(rates, track: track)
        }
    }
}
