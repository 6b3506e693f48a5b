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
    /// The bit rates that another version of the document asks for, by track. An encoder is opened for each, on the caller's
    /// thread, to see that it fits the initialization segment players have.
    ///
    /// - Throws: What cannot be had without another worker, with everything that is wrong.
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
                            path: path, at: .none, what: "with these bit rates its H.264 level is another one",
                            fix: "stay nearer to \(old.video.bitrate), or drain this worker and run the new file"))
                }
            } catch {
                mistakes.append(SpecDiagnostic(path: path, at: .none, what: error.what, fix: error.fix))
            }
        }
        guard mistakes.isEmpty else { throw .refused(mistakes) { what, fix, _ in .needsRestart(what, fix: fix) } }
        return changes
    }

    /// What is declared rises before what is coded.
    func apply(_ changes: [Int: BitRates]) {
        for (track, rates) in changes {
            self.packager?.declare(rates, track: track)
            self.passthrough?.setRates(rates, track: track)
            self.live?.setBitrate(Int(clamping: rates.bitrate), track: track)
            self.ladder.control.setRates(rates, track: track)
        }
    }
}
