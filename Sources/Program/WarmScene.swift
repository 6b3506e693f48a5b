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
        /// Those for a source that had never sent a picture: useless once it has, and megabytes each.
        var guesses: Set<ObjectIdentifier> = []
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
    ///
    /// - Returns: In the order of `panes`; and whether one of them is a guess.
    package func wanted(_ formats: [SourceID: PictureFormat]) -> (formats: [PictureFormat], isGuess: Bool) {
        let (newest, isGuess) = self.shelf.withLock { shelf in
            (
                shelf.compositions.last?.formats,
                shelf.compositions.last.map { shelf.guesses.contains(ObjectIdentifier($0)) }
            )
        }
        let wanted = self.panes.enumerated().map { index, pane in
            formats[pane.source] ?? newest.flatMap { index < $0.count ? $0[index] : nil }
                ?? .canvas(width: pane.rect.width, height: pane.rect.height)
        }
        return (wanted, isGuess != false && self.panes.contains { formats[$0.source] == nil })
    }

    func needs(_ formats: [PictureFormat]) -> Bool {
        self.shelf.withLock { shelf in
            !shelf.compositions.contains { $0.formats == formats } && !shelf.refused.contains(formats)
        }
    }

    var isCold: Bool { self.shelf.withLock { $0.compositions.isEmpty } }
    package var compositions: [Composition] { self.shelf.withLock { $0.compositions } }

    func refuse(_ formats: [PictureFormat]) {
        self.shelf.withLock { shelf in
            shelf.refused.append(formats)
            if shelf.refused.count > 16 { shelf.refused.removeFirst() }
        }
    }

    /// Puts a composition on the shelf, in the place of one for the same formats.
    ///
    /// - Parameters:
    ///   - limit: Compositions kept; a phone that turns back and forth finds both of its own.
    ///   - replacing: All others go: they show what is no longer true.
    ///   - isGuess: It stands in for one that is made when all its sources have sent pictures.
    /// - Returns: What was let go, for the caller to free where that disturbs nobody.
    package func add(
        _ composition: Composition, limit: Int, replacing: Bool = false, isGuess: Bool = false
    ) -> [Composition] {
        self.shelf.withLock { shelf in
            var gone: [Composition] = []
            shelf.compositions.removeAll { old in
                let isGuessed = !isGuess && shelf.guesses.contains(ObjectIdentifier(old))
                guard replacing || isGuessed || old.formats == composition.formats else { return false }
                gone.append(old)
                return true
            }
            shelf.compositions.append(composition)
            while shelf.compositions.count > max(1, limit) { gone.append(shelf.compositions.removeFirst()) }
            for old in gone { shelf.guesses.remove(ObjectIdentifier(old)) }
            if isGuess { shelf.guesses.insert(ObjectIdentifier(composition)) }
            return gone
        }
    }

    /// Lets all graphs go.
    func cool() -> [Composition] {
        self.shelf.withLock { shelf in
            defer {
                shelf.compositions = []
                shelf.guesses = []
            }
            return shelf.compositions
        }
    }
}
