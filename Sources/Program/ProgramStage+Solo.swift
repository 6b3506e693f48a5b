package import LibAV
package import MediaTypes

/// The source that fills the whole canvas, if exactly one does.
package struct FullCanvasSource: Sendable, Hashable {
    /// The source; `nil` if no source fills the canvas alone, during a transition, and while an overlay is played.
    package var source: SourceID?
    /// Whether the source, also below an overlay, is decoded up to the current time, so that the canvas shows its current
    /// frame; `true` if there is no such source.
    package var isFresh: Bool
    /// Whether all sources that the scene shows are decoded up to the current time; `true` if it shows none, and during a
    /// transition.
    package var areAllFresh = true
    /// Format of the tick's canvas; `nil` before the first canvas.
    package var format: PictureFormat?
}

extension Scene {
    /// The source whose pane fills the room's whole canvas, without a crop, border, speaking ring or round corners and with
    /// nothing else on the canvas; `nil` if there is no such source. If the frame has another aspect ratio than the canvas, it
    /// may still be cut, stretched or have margins.
    package func solo(in room: Canvas) -> SourceID? {
        let panes = self.visiblePanes
        guard let pane = panes.first, panes.count == 1, self.size == nil, self.images.isEmpty, self.texts.isEmpty,
            self.bars.isEmpty, self.countdowns.isEmpty,
            pane.rect == Rect(x: 0, y: 0, width: room.width, height: room.height), pane.crop == nil,
            pane.border == nil, pane.speakingRing == nil, pane.cornerRadius == 0
        else { return nil }
        return pane.source
    }
}

extension Scene {
    /// The source with the largest pane that shows video, apart from the sources in `hidden`; of equal panes, the first in
    /// the list. `nil` if there is none.
    package func largestSource(without hidden: Set<SourceID>) -> SourceID? {
        var largest: Pane?
        for pane in self.panes where pane.videoPush && !hidden.contains(pane.source) {
            if pane.rect.area > largest?.rect.area ?? 0 { largest = pane }
        }
        return largest?.source
    }
}

extension ProgramStage {
    /// Marks the sources whose decoded frames are not needed although they are on air: then only their key frames are
    /// decoded. Replaces earlier marks. May be called from any thread.
    package func setUnseen(_ sources: KeyFrameSources) { self.unseen.withLock { $0 = sources } }

    /// Returns the source that fills the canvas of a tick, and what else ``FullCanvasSource`` has.
    ///
    /// - Parameters:
    ///   - sources: All sources of the program.
    ///   - selected: The selection of each source for the tick.
    func view(
        _ player: borrowing SceneCompositor, _ hidden: Set<SourceID>, _ sources: [SourceID: Source],
        _ selected: [SourceID: SourceBuffer.Selection], _ due: Int64, _ interval: Int64
    ) -> FullCanvasSource {
        var view = FullCanvasSource(source: nil, isFresh: true, format: player.last?.format)
        guard !player.isCrossing, let scene = player.scene else { return view }
        func isFresh(_ source: SourceID) -> Bool {
            sources[source]?.buffer.need.isHidden != true
                && (selected[source]?.time ?? .min) >= due &- 2 &* interval
        }
        view.areAllFresh = scene.panes.allSatisfy { pane in
            !pane.videoPush || hidden.contains(pane.source) || isFresh(pane.source)
        }
        if let source = scene.solo(in: self.scheduler.canvas), !hidden.contains(source) {
            view.isFresh = isFresh(source)
            view.source = self.overlays.isBusy ? nil : source
        }
        return view
    }

    /// Whether only the key frames of a source on air need to be decoded; see ``setUnseen(_:)``. `false` while an
    /// overlay is played, or while another scene is scheduled or in transition, which may show the source differently.
    func isUnseen(_ source: SourceID) -> Bool {
        guard self.unseen.withLock({ $0.contains(source) }), !self.overlays.isBusy else { return false }
        return self.scheduler.state.withLock { $0.pending.isEmpty && $0.leaving == nil }
    }
}
