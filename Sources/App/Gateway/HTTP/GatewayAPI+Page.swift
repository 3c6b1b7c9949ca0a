import HTTPTypes
import Hummingbird
import NIOCore

extension GatewayAPI {
    /// The web page and its parts. They contain nothing secret, so everybody may read them.
    ///
    /// A folder is one route. The router compares a new route with all those beside it, so a route for each file would take
    /// longer than the rest of the start.
    func addPageRoutes(to router: Router<GatewayRequestContext>) {
        for (path, asset) in page.assets where !path.hasPrefix(WebPage.folder) {
            router.get(RouterPath(path)) { request, _ in Self.response(asset, to: request) }
        }
        router.get("\(WebPage.folder):file") { request, _ in
            Self.response(try Self.asset(request, in: page.assets), to: request)
        }
        // The router takes one name for each place of a path, so the folder of a version is a `file` as well.
        router.get("\(WebPage.folder):file/:name") { request, _ in
            Self.response(
                try Self.asset(request, in: page.lasting), to: request,
                caching: "public, max-age=31536000, immutable")
        }
    }

    private static func asset(_ request: Request, in assets: [String: WebAsset]) throws -> WebAsset {
        guard let asset = assets[request.uri.path] else { throw HTTPFailure(error: ErrorMiddleware.unknownPath) }
        return asset
    }

    /// A file of the page, compressed if the browser takes that, or only a note that it has not changed.
    static func response(
        _ asset: WebAsset, to request: Request, caching: String = "no-cache", headers more: HTTPFields = [:]
    ) -> Response {
        let gzip = acceptsGzip(request.headers[.acceptEncoding] ?? "") ? asset.gzip : nil
        // One tag for each representation (RFC 9110, section 8.8.3).
        let tag = "\"\(asset.digest)\(gzip == nil ? "" : "-gzip")\""
        var headers = more
        headers[.contentType] = asset.mediaType
        headers[.cacheControl] = caching
        headers[.eTag] = tag
        headers[.vary] = "Accept-Encoding"
        if let known = request.headers[.ifNoneMatch], known.contains(tag) {
            return Response(status: .notModified, headers: headers)
        }
        if gzip != nil { headers[.contentEncoding] = "gzip" }
        return Response(
            status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: gzip ?? asset.bytes)))
    }

    /// Whether a client takes gzip (RFC 9110, section 12.5.3). One that says nothing gets the file as it is.
    static func acceptsGzip(_ header: String) -> Bool {
        var weights: [String: Double] = [:]
        for part in header.lowercased().split(separator: ",") {
            let words = part.split(separator: ";").map { $0.trimming(while: { $0 == " " || $0 == "\t" }) }
            guard let name = words.first else { continue }
            let weight = words.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            weights[name == "x-gzip" ? "gzip" : String(name)] = weight
        }
        return (weights["gzip"] ?? weights["*"] ?? 0) > 0
    }
}

extension Substring {
    /// The text without some characters at its beginning and its end.
    fileprivate func trimming(while isOutside: (Character) -> Bool) -> Substring {
        var rest = drop(while: isOutside)
        while let last = rest.last, isOutside(last) { rest.removeLast() }
        return rest
    }
}
