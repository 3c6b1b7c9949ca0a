import AutomationGraph

/// The graphs of automations that clients send.
extension FuzzTarget {
    static let automations = FuzzTarget(
        "automations", "the JSON form of an automation's graph", maximumLength: 8192,
        dictionary: [
            #""version":1"#, #""nodes":["#, #""type":"sequential""#, #""type":"parallel""#, #""type":"select""#,
            #""type":"attributeStarter""#, #""type":"eventStarter""#, #""type":"manualStarter""#,
            #""type":"condition""#, #""type":"if""#, #""ifThen":{"#, #""elseIfThens":["#, #""elseThen":{"#,
            #""type":"stateReader""#, #""type":"action""#, #""type":"delay""#, #""type":"suppress""#, #""for":5"#,
            #""entity":{"device":"d"}"#, #""trait":"OnOff""#, #""command":"on""#, #""update":{}"#, #""constant":"#,
            #""reference":"n""#, #""field":"onOff""#, #""of":"#, #""item":"#, #""equals":["#, #""between":["#, "\\u00",
        ],
        seeds: {
            [
                #"{"version":1,"nodes":[{"type":"attributeStarter","id":"n1","entity":{"device":"d1"},"deviceType":"#
                    + #""OnOffLightDeviceType","trait":"OnOff"},{"type":"condition","expression":{"equals":[{"field":"#
                    + #""onOff","of":{"reference":"n1"}},{"constant":true}]},"for":60},{"type":"action","entity":"#
                    + #"{"device":"d2"},"trait":"OnOff","command":"on","parameters":{"a":[1,2.5,null]}}]}"#,
                #"{"version":1,"nodes":[{"type":"select","nodes":[{"type":"manualStarter"},{"type":"eventStarter","#
                    + #""id":"e","entity":{"structure":"s"},"trait":"Time","event":"Scheduled","parameters":{"#
                    + #""clockTime":{"hours":8,"minutes":0}}}]},{"type":"if","ifThen":{"condition":{"not":[{"item":"#
                    + #"{"constant":0},"of":{"constant":[true]}}]},"nodes":[{"type":"delay","for":1.5}]},"#
                    + #""elseThen":{"nodes":[{"type":"suppress","for":5}]}}]}"#,
                #"{"version":2,"anything":{"else":[]}}"#,
            ].map { Array($0.utf8) }
        }
    ) { bytes throws(FuzzFailure) in
        guard let graph = try? Graph(json: bytes) else { return }
        let text = graph.json
        guard let again = try? Graph(json: text) else { throw FuzzFailure("a graph cannot be read twice") }
        try require(again == graph, "a graph changes when it is written and read")
        try require(again.json == text, "a graph has two texts")
        observe(graph.isUnderstood)
    }
}
