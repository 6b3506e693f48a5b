import Control
import MediaTypes
import PipelineSpec
import RoomSources
import Secrets

/// What requests may name and where they may make the room connect to: nothing but what the operator's pipeline file allows.
extension Room {
    /// What a request may name: what the operator wrote, and what requests before have been granted.
    func grants() -> ResourceGrants {
        let (written, current) = self.value.withLock { ($0.documents.written, $0.documents.current?.effective) }
        return ResourceGrants([written, current].compactMap { $0 }, in: self.pipeline.control)
    }

    /// Refuses what a request names and may not, before any of it is looked at.
    static func check(_ document: JSONNode, _ grants: ResourceGrants) throws(ControlFailure) {
        try self.refuse(grants.mistakes(in: document))
    }

    /// Refuses a document that names a server nothing will be sent to, as far as its name tells.
    func checkServers(of pipeline: Pipeline) throws(ControlFailure) {
        try Self.refuse(self.settings.egress.policy.mistakes(in: pipeline))
    }

    private static func refuse(_ mistakes: [SpecDiagnostic]) throws(ControlFailure) {
        guard !mistakes.isEmpty else { return }
        throw .refused(mistakes) { what, fix, _ in .authDenied(what, fix: fix) }
    }
}
