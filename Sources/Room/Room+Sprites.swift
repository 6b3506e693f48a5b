import Control
import LibAV
import MediaTypes
import PipelineSpec

/// Sheets of stills for players' seek bars.
extension Room {
    func startSprites() {
        let makers = self.pipeline.images.compactMap { SpriteMaker($0, incarnation: self.incarnation) }
        guard !makers.isEmpty else { return }
        self.packager?.serve { name in makers.lazy.compactMap { $0.object(named: name) }.first }
        for maker in makers {
            self.snapshots.watch { [weak self] picture in self?.take(picture, for: maker) ?? maker.interval * 1_000 }
        }
    }

    /// - Returns: Milliseconds until the next is wanted: early in the interval that follows, so that each shows what its time
    ///   begins with, and none is left out.
    private func take(_ picture: Picture, for maker: SpriteMaker) -> Int {
        let interval = Int64(maker.interval) * 1_000
        func time() -> Int64? { self.clock.program(of: self.machine.now()).map { max(0, $0 / 1_000_000) } }
        // What is shown last stays when the program is over: no picture of it any more.
        guard self.state == .live, !self.areOutputsPaused, let taken = time() else { return Int(interval) }
        do throws(MediaError) {
            if let update = try maker.take(picture, at: taken) { for upload in self.uploads { upload.put(update) } }
        } catch {
            self.logger.warning(
                "a sheet of stills could not be made",
                metadata: ["output": "\(maker.outputID)", "error": "\(error)"])
        }
        let next = (taken / interval + 1) * interval + interval / 10
        return Int(max(0, next - (time() ?? taken)))
    }
}
