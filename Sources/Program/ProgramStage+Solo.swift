package import LibAV
package import MediaTypes

/// The one source that is all of the canvas, if there is one.
package struct SoloView: Sendable, Hashable {
    package var source: SourceID?
    /// Its decoder is in the present: the canvas shows it as it is now.
    package var isFresh: Bool
    /// The canvas of the tick; `nil` before the first.
    package var format: PictureFormat?
}

extension Scene {
    /// The source whose picture is the whole canvas of the room, as it comes, with nothing over it.
    package func solo(in room: Canvas) -> SourceID? {
        let panes = self.visiblePanes
        guard let pane = panes.first, panes.count == 1, self.size == nil, self.images.isEmpty, self.texts.isEmpty,
            self.bars.isEmpty, self.countdowns.isEmpty,
            pane.rect == Rect(x: 0, y: 0, width: room.width, height: room.height), pane.crop == nil,
            pane.border == nil, pane.cornerRadius == 0
        else { return nil }
        return pane.source
    }
}

extension ProgramStage {
    /// The source's pictures are needed by nobody, although they are on air: only its key pictures are decoded. From any
    /// thread; `nil`: all are needed.
    package func setUnseen(_ source: SourceID?) { self.unseen.withLock { $0 = source } }

    /// - Parameters:
    ///   - sources: Who is there.
    ///   - selected: What each has for the tick.
    func view(
        _ player: borrowing ScenePlayer, _ hidden: Set<SourceID>, _ sources: [SourceID: Source],
        _ selected: [SourceID: SourceBuffer.Selection], _ due: Int64, _ interval: Int64
    ) -> SoloView {
        let format = player.last?.format
        guard !player.isCrossing, let source = player.scene?.solo(in: self.director.canvas), !hidden.contains(source)
        else { return SoloView(source: nil, isFresh: true, format: format) }
        let time = selected[source]?.time ?? .min
        let isFresh = sources[source]?.buffer.need.isHidden != true && time >= due &- 2 &* interval
        return SoloView(source: source, isFresh: isFresh, format: format)
    }

    /// Whether a source that is on air is decoded for nobody. Not while a scene waits that may show it otherwise.
    func isUnseen(_ source: SourceID) -> Bool {
        guard self.unseen.withLock({ $0 }) == source else { return false }
        return self.director.state.withLock { $0.pending.isEmpty && $0.leaving == nil }
    }
}
