import Control
import MediaTypes
import PipelineSpec

/// Sheets of stills for players' seek bars.
extension Room {
    func startSprites() {
        let makers = self.pipeline.images.compactMap { SpriteMaker($0, incarnation: self.incarnation) }
        guard !makers.isEmpty else { return }
        self.packager?.serve { name in makers.lazy.compactMap { $0.object(named: name) }.first }
        for maker in makers {
            self.snapshots.watch(everySeconds: maker.interval) { [weak self] picture in
                guard let self, !self.overload.areOutputsPaused,
                    let time = self.clock.program(of: self.machine.now())
                else { return }
                do throws(MediaError) {
                    guard let update = try maker.take(picture, at: time / 1_000_000) else { return }
                    for upload in self.uploads { upload.put(update) }
                } catch {
                    self.logger.warning(
                        "a sheet of stills could not be made",
                        metadata: ["output": "\(maker.outputID)", "error": "\(error)"])
                }
            }
        }
    }
}
