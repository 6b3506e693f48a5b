package import LibAV
package import MediaTypes
import Synchronization

/// A scene with its compositions: one for each combination of formats its sources lately had.
package final class WarmScene: Sendable {
    package let scene: Scene
    /// What shows a picture, bottom first.
    package let panes: [Pane]
    private struct Shelf {
        /// Newest last.
        var compositions: [Composition] = []
        /// Combinations libavfilter refused: tried once, not once a tick.
        var refused: [[PictureFormat]] = []
    }

    private let shelf = Mutex(Shelf())

    package init(_ scene: Scene) {
        self.scene = scene
        self.panes = scene.visiblePanes
    }

    /// The newest composition that takes these formats; failing that, the one with the most panes that do.
    package func best(for formats: [SourceID: PictureFormat]) -> (composition: Composition, isExact: Bool)? {
        self.shelf.withLock { shelf in
            var best: (composition: Composition, matches: Int)?
            for composition in shelf.compositions.reversed() {
                let matches = composition.matches(formats)
                if matches == composition.panes.count { return (composition, true) }
                if matches > (best?.matches ?? -1) { best = (composition, matches) }
            }
            return best.map { ($0.composition, false) }
        }
    }

    /// What to build for: a source's format, or what the newest composition was built for, or the pane's own size for a
    /// source that never had a picture.
    func wanted(_ formats: [SourceID: PictureFormat]) -> [PictureFormat] {
        let newest = self.shelf.withLock { $0.compositions.last?.formats }
        return self.panes.enumerated().map { index, pane in
            formats[pane.source] ?? newest.flatMap { index < $0.count ? $0[index] : nil }
                ?? .canvas(width: pane.rect.width, height: pane.rect.height)
        }
    }

    func needs(_ formats: [PictureFormat]) -> Bool {
        self.shelf.withLock { shelf in
            !shelf.compositions.contains { $0.formats == formats } && !shelf.refused.contains(formats)
        }
    }

    var isCold: Bool { self.shelf.withLock { $0.compositions.isEmpty } }
    var compositions: [Composition] { self.shelf.withLock { $0.compositions } }

    func refuse(_ formats: [PictureFormat]) {
        self.shelf.withLock { shelf in
            shelf.refused.append(formats)
            if shelf.refused.count > 16 { shelf.refused.removeFirst() }
        }
    }

    /// - Parameters:
    ///   - limit: Compositions kept; a phone that turns back and forth finds both of its own.
    ///   - replacing: All others go: they show what is no longer true.
    /// - Returns: What was let go, for the caller to free where that disturbs nobody.
    func add(_ composition: Composition, limit: Int, replacing: Bool = false) -> [Composition] {
        self.shelf.withLock { shelf in
            var gone: [Composition] = []
            if replacing {
                gone = shelf.compositions
                shelf.compositions = []
            }
            shelf.compositions.append(composition)
            while shelf.compositions.count > max(1, limit) { gone.append(shelf.compositions.removeFirst()) }
            return gone
        }
    }

    /// Lets all graphs go.
    func cool() -> [Composition] {
        self.shelf.withLock { shelf in
            defer { shelf.compositions = [] }
            return shelf.compositions
        }
    }
}
