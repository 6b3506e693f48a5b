/// The scenes of a running room, by their ids, and which version of each counts.
package struct SceneShelf: Sendable {
    package enum Change: String, Sendable { case unchanged, added, replaced }

    package enum Refusal: Error, Sendable, Equatable {
        /// The shelf has this version, or has had it; or the same version with another content.
        case superseded(by: Int)
        /// No room for another scene.
        case full
    }

    /// Most scenes.
    package static let limit = 256

    /// In the order they came.
    package private(set) var scenes: [Scene]
    /// Versions of scenes that were taken away: a request that was overtaken must not bring one back.
    private var removed: [String: Int] = [:]

    package init(_ scenes: [Scene]) { self.scenes = scenes }

    package subscript(_ sceneID: String) -> Scene? { self.scenes.first { $0.sceneID == sceneID } }

    /// What the scene would be on the shelf, with its version, and what that changes.
    ///
    /// - Parameter hasRevision: Without one it is the next version, whatever it is now.
    package func judge(_ scene: Scene, hasRevision: Bool) throws(Refusal) -> (scene: Scene, change: Change) {
        var scene = scene
        guard let known = self[scene.sceneID] else {
            guard self.scenes.count < Self.limit else { throw .full }
            if let last = self.removed[scene.sceneID] {
                if !hasRevision { scene.revision = last + 1 }
                guard scene.revision > last else { throw .superseded(by: last) }
            }
            return (scene, .added)
        }
        var same = known
        same.revision = scene.revision
        let isSame = same == scene
        guard hasRevision else {
            scene.revision = isSame ? known.revision : known.revision + 1
            return (scene, isSame ? .unchanged : .replaced)
        }
        if scene.revision == known.revision, isSame { return (known, .unchanged) }
        guard scene.revision > known.revision else { throw .superseded(by: known.revision) }
        return (scene, .replaced)
    }

    /// Adds the scene, or puts it in the place of the one of its id.
    package mutating func put(_ scene: Scene) {
        self.removed[scene.sceneID] = nil
        if let index = self.scenes.firstIndex(where: { $0.sceneID == scene.sceneID }) {
            self.scenes[index] = scene
        } else {
            self.scenes.append(scene)
        }
    }

    /// As ``put(_:)`` for a version that is ordered elsewhere, as with the room's document: it is newer than any there was.
    package mutating func putNext(_ scene: Scene) {
        var scene = scene
        if let last = self[scene.sceneID]?.revision ?? self.removed[scene.sceneID] {
            scene.revision = max(scene.revision, last + 1)
        }
        self.put(scene)
    }

    /// Takes away a scene that was taken away under a worker before this one.
    package mutating func remove(_ sceneID: String, revision: Int) {
        self.remove(sceneID)
        self.removed[sceneID] = max(self.removed[sceneID] ?? 0, revision)
    }

    /// - Returns: The scene that is gone; `nil`: there was none.
    @discardableResult
    package mutating func remove(_ sceneID: String) -> Scene? {
        guard let index = self.scenes.firstIndex(where: { $0.sceneID == sceneID }) else { return nil }
        let scene = self.scenes.remove(at: index)
        // Ids nobody can remember must not fill the memory.
        if self.removed.count >= 4 * Self.limit { self.removed.removeAll() }
        self.removed[sceneID] = scene.revision
        return scene
    }
}
