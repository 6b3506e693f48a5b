/// The scenes of a running room, with the current version of each scene.
package struct SceneStore: Sendable {
    package enum Change: String, Sendable { case unchanged, added, replaced }

    package enum Refusal: Error, Sendable, Equatable {
        /// The room has a later version of this scene, or the same version with other content; or it has removed this
        /// or a later version.
        case superseded(by: Int)
        /// The room already has the maximum number of scenes.
        case full
    }

    /// Maximum number of scenes.
    package static let limit = 256

    /// The scenes in the order in which they were added.
    package private(set) var scenes: [Scene]
    /// Last version of each removed scene by id, so that a delayed older request does not add a scene again.
    private var removed: [String: Int] = [:]

    package init(_ scenes: [Scene]) { self.scenes = scenes }

    package subscript(_ sceneID: String) -> Scene? { self.scenes.first { $0.sceneID == sceneID } }

    /// Returns the scene with the version it would get, and what adding it would change.
    ///
    /// - Parameter hasRevision: Whether the request contains a revision; without one, the scene gets the next version.
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

    /// Adds the scene, or replaces the one with the same id.
    package mutating func put(_ scene: Scene) {
        self.removed[scene.sceneID] = nil
        if let index = self.scenes.firstIndex(where: { $0.sceneID == scene.sceneID }) {
            self.scenes[index] = scene
        } else {
            self.scenes.append(scene)
        }
    }

    /// Adds or replaces a scene without checking its version, for callers that check the order themselves, for example
    /// by the revision of the room's document. The scene gets a higher version than all its earlier versions.
    package mutating func putNext(_ scene: Scene) {
        var scene = scene
        if let last = self[scene.sceneID]?.revision ?? self.removed[scene.sceneID] {
            scene.revision = max(scene.revision, last + 1)
        }
        self.put(scene)
    }

    /// Removes a scene that was removed while an earlier worker ran the room.
    package mutating func remove(_ sceneID: String, revision: Int) {
        self.remove(sceneID)
        self.removed[sceneID] = max(self.removed[sceneID] ?? 0, revision)
    }

    /// Removes a scene and keeps its version.
    ///
    /// - Returns: The removed scene; `nil` if there was no such scene.
    @discardableResult
    package mutating func remove(_ sceneID: String) -> Scene? {
        guard let index = self.scenes.firstIndex(where: { $0.sceneID == sceneID }) else { return nil }
        let scene = self.scenes.remove(at: index)
        // Limits the memory for ids of removed scenes.
        if self.removed.count >= 4 * Self.limit { self.removed.removeAll() }
        self.removed[sceneID] = scene.revision
        return scene
    }
}
