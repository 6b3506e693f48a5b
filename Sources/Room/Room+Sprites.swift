import Control
import LibAV
import MediaTypes
import PipelineSpec
import Stages

/// Sheets of stills for players' seek bars.
extension Room {
    /// - Returns: The threads that make them.
    func startSprites() -> [StageThread] {
        let makers = self.pipeline.images.compactMap { SpriteMaker($0, incarnation: self.incarnation) }
        guard !makers.isEmpty else { return [] }
        self.packager?.serve { [weak self] name in
            self?.value.withLock(\.output.sprites).values.lazy.compactMap { $0.object(named: name) }.first
        }
        return makers.map { maker in
            self.snapshots.watch(maker) { [weak self] maker, picture in
                self?.take(picture, for: &maker) ?? maker.interval * 1_000
            }
        }
    }

    /// - Returns: Milliseconds until the next is wanted: early in the interval that follows, so that each shows what its time
    ///   begins with, and none is left out.
    private func take(_ picture: Picture, for maker: inout SpriteMaker) -> Int {
        let interval = Int64(maker.interval) * 1_000
        func time() -> Int64? { self.clock.program(of: self.machine.now()).map { max(0, $0 / 1_000_000) } }
        // What is shown last stays when the program is over: no picture of it any more.
        guard self.state == .live, !self.areOutputsPaused, let taken = time() else { return Int(interval) }
        do throws(MediaError) {
            let id = maker.outputID
            let update = try maker.take(picture, at: taken) { files in
                self.value.withLock { $0.output.sprites[id] = files }
            }
            if let update { for upload in self.uploads { upload.put(update) } }
        } catch {
            self.logger.warning(
                "a sheet of stills could not be made",
                metadata: ["output": "\(maker.outputID)", "error": "\(error)"])
        }
        let next = (taken / interval + 1) * interval + interval / 10
        return Int(max(0, next - (time() ?? taken)))
    }
}
