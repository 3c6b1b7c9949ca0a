/// The web page. Its files are in `Sources/App/WebFiles/page` and are part of the program, so nothing has to be
/// installed next to it.
///
/// Each file is served twice: under its name, and in a folder that has the digest of all files as its name. Documents name the
/// files of that folder, so browsers keep them for ever, and a new version of the gateway has another folder. Modules name
/// one another by relative addresses, and stay in their folder.
struct WebPage: Sendable {
    /// The file of the page that shows one camera.
    static let cameraPage = "/assets/camera.html"
    /// The consent page of OAuth.
    static let linkPage = "/assets/link.html"
    /// The script that browsers run while the page is closed.
    static let serviceWorker = "/service-worker.js"
    static let folder = "/assets/"

    /// The files by their paths.
    let assets: [String: WebAsset]
    /// The files that never change, by their paths.
    let lasting: [String: WebAsset]

    init() { self.init(files: WebFile.embedded) }

    init(files: [WebFile]) {
        let lastingFolder = "\(Self.folder)\(Self.version(of: files))/"
        let modules = Dictionary(
            files.filter { $0.path.hasSuffix(".js") }.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        var assets: [String: WebAsset] = [:]
        var lasting: [String: WebAsset] = [:]
        for file in files {
            guard file.mediaType.hasPrefix("text/html") else {
                let asset = WebAsset(file.mediaType) { file.content }
                assets[file.path] = asset
                if file.path.hasPrefix(Self.folder) {
                    lasting[lastingFolder + file.path.dropFirst(Self.folder.count)] = asset
                }
                continue
            }
            assets[file.path] = WebAsset(file.mediaType) {
                let text = ModuleGraph.document(
                    String(decoding: file.content, as: UTF8.self), folder: Self.folder, lasting: lastingFolder
                ) { path in
                    modules[path].map { ModuleGraph.imports(of: $0.content) } ?? []
                }
                return Array(text.utf8)
            }
        }
        self.assets = assets
        self.lasting = lasting
    }

    /// A digest of the paths and the digests of all files. It reads the files where they are.
    private static func version(of files: [WebFile]) -> String {
        var names = ""
        for file in files.sorted(by: { $0.path < $1.path }) {
            file.withBytes { names += "\(file.path)\0\(WebAsset.digest(of: $0))\0" }
        }
        return WebAsset.digest(of: Array(names.utf8))
    }

    /// The paths that everybody may read.
    var paths: Set<String> { Set(assets.keys).union(lasting.keys) }
}
