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

/// The bit rates that a new version of the document sets for running renditions.
package struct BitRateChanges: Sendable {
    /// New bit rates by track.
    private var changes: [Int: BitRates] = [:]

    /// Determines the changed bit rates. Opens an encoder for each on the caller's thread, to check that its parameter
    /// sets still fit the initialization segment that players have.
    ///
    /// - Throws: ``ControlFailure`` that lists every change that requires another worker, or whose encoder cannot be
    ///   opened.
    package init(from before: Pipeline, to after: Pipeline, _ ladder: EncodingStage) throws(ControlFailure) {
        var mistakes: [SpecDiagnostic] = []
        for (index, rendition) in after.renditions.enumerated() where !rendition.isAudioOnly {
            guard let old = before.renditions.first(where: { $0.name == rendition.name }), old.rates != rendition.rates,
                let track = ladder.renditions.firstIndex(where: { $0.name == rendition.name })
            else { continue }
            let path = "renditions[\(index)].video"
            do throws(MediaError) {
                if try ladder.takes(rendition.rates, track: track) {
                    self.changes[track] = rendition.rates
                } else {
                    mistakes.append(
                        SpecDiagnostic(
                            path: path, at: .none, what: "these bit rates require a different H.264 level",
                            fix: "choose rates nearer to \(old.video.bitrate) bit/s, or start another worker"))
                }
            } catch {
                mistakes.append(SpecDiagnostic(path: path, at: .none, what: error.what, fix: error.fix))
            }
        }
        guard mistakes.isEmpty else { throw .refused(mistakes) { what, fix, _ in .needsRestart(what, fix: fix) } }
    }

    /// Applies the changes: first the bit rates that playlists declare, then those of the encoders.
    ///
    /// - Parameter others: Called for each track between these two steps, with its new rates.
    package func apply(to packager: HLSPackager?, _ ladder: EncodingStage, others: (_ track: Int, BitRates) -> Void) {
        for (track, rates) in self.changes {
            packager?.declare(rates, track: track)
            others(track, rates)
            ladder.control.setRates(rates, track: track)
        }
    }
}
