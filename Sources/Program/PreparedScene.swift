package import LibAV
package import MediaTypes
import Synchronization

/// A scene with its prepared filter graphs (compositions), one for each recent combination of source formats.
package final class PreparedScene: Sendable {
    package let scene: Scene
    /// The panes that show video, bottom first.
    package let panes: [Pane]
    private struct CompositionCache {
        /// Compositions of the scene, newest last.
        var compositions: [Composition] = []
        /// Compositions built before a source had sent its first frame, for a guessed format. They are removed once a
        /// composition for the real formats exists, because each takes megabytes.
        var guesses: Set<ObjectIdentifier> = []
        /// Combinations of formats for which a build failed, so that they are not tried on every tick.
        var refused: [[PictureFormat]] = []
    }

    private let cache = Mutex(CompositionCache())

    package init(_ scene: Scene) {
        self.scene = scene
        self.panes = scene.visiblePanes
    }

    /// Returns the newest composition whose panes all match these formats (``Composition/matches(_:)``), otherwise the
    /// one with the most matching panes; `nil` if the scene has no composition.
    package func best(for formats: [SourceID: PictureFormat]) -> (composition: Composition, isExact: Bool)? {
        self.cache.withLock { cache in
            var best: (composition: Composition, matches: Int)?
            for composition in cache.compositions.reversed() {
                let matches = composition.matches(formats)
                if matches == composition.panes.count { return (composition, true) }
                if matches > (best?.matches ?? -1) { best = (composition, matches) }
            }
            return best.map { ($0.composition, false) }
        }
    }

    /// Returns the formats to build a composition for: for each pane the source's current format, else the format in
    /// the newest composition, else the pane's own size if the source never sent a frame.
    ///
    /// - Returns: The formats in the order of `panes`, and whether one of them is a guess.
    package func wanted(_ formats: [SourceID: PictureFormat]) -> (formats: [PictureFormat], isGuess: Bool) {
        let (newest, isGuess) = self.cache.withLock { cache in
            (
                cache.compositions.last?.formats,
                cache.compositions.last.map { cache.guesses.contains(ObjectIdentifier($0)) }
            )
        }
        let wanted = self.panes.enumerated().map { index, pane in
            formats[pane.source] ?? newest.flatMap { index < $0.count ? $0[index] : nil }
                ?? .canvas(width: pane.rect.width, height: pane.rect.height)
        }
        return (wanted, isGuess != false && self.panes.contains { formats[$0.source] == nil })
    }

    func needs(_ formats: [PictureFormat]) -> Bool {
        self.cache.withLock { cache in
            !cache.compositions.contains { $0.formats == formats } && !cache.refused.contains(formats)
        }
    }

    var isCold: Bool { self.cache.withLock { $0.compositions.isEmpty } }
    package var compositions: [Composition] { self.cache.withLock { $0.compositions } }

    func refuse(_ formats: [PictureFormat]) {
        self.cache.withLock { cache in
            cache.refused.append(formats)
            if cache.refused.count > 16 { cache.refused.removeFirst() }
        }
    }

    /// Adds a composition, which replaces one for the same formats.
    ///
    /// - Parameters:
    ///   - limit: Number of compositions to keep. With several, a phone that is rotated back and forth finds both of
    ///     its formats.
    ///   - replacing: Whether to remove all other compositions, because their content is outdated.
    ///   - isGuess: Whether the composition is provisional, because not all its sources have sent a frame yet.
    /// - Returns: The removed compositions. The caller should free them on a thread where this does no harm.
    package func add(
        _ composition: Composition, limit: Int, replacing: Bool = false, isGuess: Bool = false
    ) -> [Composition] {
        self.cache.withLock { cache in
            var gone: [Composition] = []
            cache.compositions.removeAll { old in
                let isGuessed = !isGuess && cache.guesses.contains(ObjectIdentifier(old))
                guard replacing || isGuessed || old.formats == composition.formats else { return false }
                gone.append(old)
                return true
            }
            cache.compositions.append(composition)
            while cache.compositions.count > max(1, limit) { gone.append(cache.compositions.removeFirst()) }
            for old in gone { cache.guesses.remove(ObjectIdentifier(old)) }
            if isGuess { cache.guesses.insert(ObjectIdentifier(composition)) }
            return gone
        }
    }

    /// Removes and returns all compositions.
    func cool() -> [Composition] {
        self.cache.withLock { cache in
            defer {
                cache.compositions = []
                cache.guesses = []
            }
            return cache.compositions
        }
    }
}
