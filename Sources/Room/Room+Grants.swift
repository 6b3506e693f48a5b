package import Control
import MediaTypes
package import PipelineSpec

/// Restricts the files, environment variables and servers that API requests may use to those that the operator allows.
extension Room {
    /// The files and environment variables that a request may use: those named in the pipeline file or in the current
    /// document, and files in directories that the operator has opened to requests.
    func grants() -> ResourceGrants {
        let (written, current) = self.value.withLock { ($0.api.documents.written, $0.api.documents.current?.effective) }
        return ResourceGrants([written, current].compactMap { $0 }, in: self.pipeline.control)
    }

    /// Refuses a request that names files or environment variables that it may not use, before any of them is read.
    static func check(_ document: JSONNode, _ grants: ResourceGrants) throws(ControlFailure) {
        try self.refuse(grants.mistakes(in: document))
    }

    /// Refuses a document that names a server to which the egress policy forbids connections, as far as its name or
    /// address shows.
    package func checkServers(of pipeline: Pipeline) throws(ControlFailure) {
        try Self.refuse(self.settings.egress.policy.mistakes(in: pipeline))
    }

    private static func refuse(_ mistakes: [SpecDiagnostic]) throws(ControlFailure) {
        guard !mistakes.isEmpty else { return }
        throw .refused(mistakes) { what, fix, _ in .authDenied(what, fix: fix) }
    }
}
