import Control
import Encoding
import MediaTypes
import Packager
import PipelineSpec

extension Rendition {
    fileprivate var rates: BitRates {
        BitRates(
            bitrate: Int64(self.video.bitrate), maxBitrate: Int64(self.video.maxBitrate),
            bufferSize: Int64(self.video.bufferSize))
    }
}

/// Bit rates of renditions, changed while the room runs.
extension Room {
    /// The bit rates that another version of the document sets, by track. Opens an encoder for each, on the caller's
    /// thread, to check that it fits the initialization segment that players have.
    ///
    /// - Throws: All bit rates that need another worker.
    func rateChanges(from before: Pipeline, to after: Pipeline) throws(ControlFailure) -> [Int: BitRates] {
        var changes: [Int: BitRates] = [:]
        var mistakes: [SpecDiagnostic] = []
        for (index, rendition) in after.renditions.enumerated() where !rendition.isAudioOnly {
            guard let old = before.renditions.first(where: { $0.name == rendition.name }), old.rates != rendition.rates,
                let track = self.ladder.rungs.firstIndex(where: { $0.name == rendition.name })
            else { continue }
            let path = "renditions[\(index)].video"
            do throws(MediaError) {
                if try self.ladder.takes(rendition.rates, track: track) {
                    changes[track] = rendition.rates
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
        return changes
    }

    /// Applies bit rates. The playlists declare the new rates before the encoders use them.
    func apply(_ changes: [Int: BitRates]) {
        for (track, rates) in changes {
            self.packager?.declare(rates, track: track)
            self.passthrough?.setRates(rates, track: track)
            self.live?.setBitrate(Int(clamping: rates.bitrate), track: track)
            self.ladder.control.setRates(rates, track: track)
        }
    }
}
