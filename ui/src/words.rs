//! Every word of the windows, in English and Japanese. Text of the engine and of models is shown as it comes.

use protocol::settings::Language;

macro_rules! words {
    ($($name:ident: $en:literal, $ja:literal;)*) => {
        /// A text of the windows. `{n}`-like places are filled by [`Word::fill`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Word { $($name),* }

        impl Word {
            pub const ALL: &[Word] = &[$(Word::$name),*];

            pub fn tell(self, language: Language) -> &'static str {
                match (self, language) {
                    $((Word::$name, Language::English) => $en, (Word::$name, Language::Japanese) => $ja,)*
                }
            }
        }
    };
}

impl Word {
    /// The text with each `{name}` replaced by its value.
    pub fn fill(self, language: Language, values: &[(&str, &str)]) -> String {
        values.iter().fold(self.tell(language).to_owned(), |text, (name, value)| {
            text.replace(&format!("{{{name}}}"), value)
        })
    }
}

words! {
    // dashboard
    Work: "Work", "作業";
    Settings: "Settings", "設定";
    Views: "Views", "画面";
    Sessions: "Sessions", "セッション";
    NewSession: "New session", "新しいセッション";
    NoSessions: "Nothing here yet", "まだ何もありません";
    Untitled: "Untitled", "無題";
    FindSession: "Find sessions", "セッションを検索";
    FindSessionHint: "Search (Ctrl+K)", "検索（Ctrl+K）";
    FoundSessions: "{n} sessions found", "{n}件のセッション";
    NothingFound: "Nothing was found", "見つかりませんでした";
    SessionTools: "What to do with this session", "このセッションの操作";
    MoreFor: "More: {name}", "その他: {name}";
    Pin: "Pin", "ピン留め";
    Unpin: "Unpin", "ピン留めを外す";
    Pinned: "pinned", "ピン留め";
    Rename: "Rename", "名前を変更";
    Archive: "Archive", "アーカイブ";
    Unarchive: "Back into the list", "一覧に戻す";
    Archived: "archived", "アーカイブ済み";
    ShowArchived: "Archived", "アーカイブ";
    HideArchived: "Back to the sessions", "セッションに戻る";
    Branch: "Branch", "分岐";
    BranchHere: "Branch from here", "ここから分岐";
    ExportHtml: "Export as a page", "ページとして書き出す";
    ExportMarkdown: "Export as Markdown", "Markdown として書き出す";
    ExportJsonl: "Export for import", "取り込み用に書き出す";
    SessionDeleted: "The session was deleted", "セッションを削除しました";
    SessionExported: "Exported: {file}", "書き出しました: {file}";
    Undo: "Undo", "元に戻す";
    JustNow: "just now", "たった今";
    MinutesAgo: "{n} min ago", "{n}分前";
    HoursAgo: "{n} h ago", "{n}時間前";
    DaysAgo: "{n} d ago", "{n}日前";
    Steps: "Steps", "ステップ";
    WelcomeTitle: "What shall be done?", "何をしましょうか？";
    WelcomeText: "Say it in your own words. Miki looks at the screen, works with mouse and keyboard, asks before anything that matters, and shows every step.",
        "自分の言葉で伝えてください。Miki は画面を見て、マウスとキーボードで作業し、大事な操作の前に確認し、すべてのステップを見せます。";
    Loading: "Connecting to the engine", "エンジンに接続しています";
    Dismiss: "Dismiss", "閉じる";

    // goal
    Goal: "Goal", "目標";
    GoalPlaceholder: "What should be done?", "何をしますか？";
    SteerPlaceholder: "Say something to the run under way", "実行中の作業に伝える";
    ComposerHint: "Enter runs · Shift+Enter new line · ↑ earlier goals", "Enter で実行 · Shift+Enter で改行 · ↑ で以前の目標";
    Run: "Run", "実行";
    Tell: "Send", "送信";
    Stop: "Stop", "停止";
    Pause: "Pause", "一時停止";
    Resume: "Resume", "再開";
    Mode: "Mode", "モード";
    Plan: "Plan", "計画";
    Act: "Act", "実行";
    PlanTitle: "Looks and plans; changes nothing", "見て計画するだけで、何も変更しません";
    ActTitle: "Works with mouse and keyboard", "マウスとキーボードで作業します";
    ApprovalMode: "Approval", "承認";
    ApprovalAsk: "Always ask", "毎回確認する";
    ApprovalThread: "Ask once per tool", "ツールごとに一度確認する";
    ApprovalAuto: "Don't ask", "確認しない";
    Search: "Search the web", "ウェブを検索する";
    SearchTitle: "The model's provider may search the web by itself; what it found is listed below its answer",
        "モデルの提供元が自分でウェブを検索できます。見つけたものは回答の下に表示されます";

    // status
    Idle: "Ready", "待機中";
    Working: "Working", "作業中";
    Waiting: "Waiting for you", "あなたの返事を待っています";
    Error: "Needs attention", "確認が必要です";
    ForecastSays: "about {takes}, {steps} steps", "見込み：{takes}、{steps} ステップ";
    ForecastFrom: "By {n} earlier runs of this model", "このモデルの過去 {n} 回の実行による";
    InTokens: "{n} tokens", "{n} トークン";
    AtMost: "at most {most}", "上限 {most}";
    InMinutes: "{n} min", "{n} 分";
    BudgetNear: "Most of the budget is used: {bound}", "予算の大半を使いました：{bound}";
    BoundSteps: "{used} of {most} steps", "{most} ステップ中 {used}";
    BoundMinutes: "{used} of {most} minutes", "{most} 分中 {used} 分";
    BoundTokens: "{used} of {most} tokens", "{most} トークン中 {used}";
    BoundDollars: "${used} of ${most}", "${most} のうち ${used}";
    UsedUp: "{bound} are used", "{bound} を使い切りました";
    UsedUpPlan: "The plan’s budget is used up: {bound}", "計画の予算を使い切りました：{bound}";
    UsedUpNext: "{bound} are used; the next call to the model may take {next}", "{bound} を使いました。モデルの次の呼び出しに {next} かかる可能性があります";
    GoOnWith: "Go on with {more} more", "あと {more}続ける";
    GoOnMore: "Go on", "続ける";
    InSteps: "{n}", "{n} ステップ";
    GoesInCircles: "It seems to go in circles", "同じことを繰り返しているようです";
    WantsWord: "It is paused, and waits for your word.", "一時停止中です。続けるかどうかを選んでください。";
    WantsWordHint: "“go on” in the field below does the same; other words are told to it when it goes on.", "入力欄で「続けて」と送っても続きます。ほかの言葉は、再開したときに伝えられます。";
    StepOf: "step {n} of {max}", "ステップ {n}/{max}";
    Paused: "Paused", "一時停止しました";
    PausedMark: "paused", "停止中";
    AnswerIsKept: "It is paused: your answer is kept, and counts once it is resumed.", "一時停止中です。回答は保存され、再開後に使われます。";
    Resumed: "Resumed", "再開しました";
    StopAll: "Stop all ({n})", "すべて停止（{n}）";
    StopSession: "Stop: {name}", "停止: {name}";
    HasDesktop: "has the desktop", "デスクトップを操作中";
    WorksInApp: "in {app}", "{app} で作業中";
    WorksBeside: "Works in {window} with its own pointer", "専用のポインターで {window} を操作しています";
    ShowItsWindow: "Show", "表示";
    ShowItsWindowTip: "Bring the window up and watch", "ウィンドウを前面に出して見る";
    TakeItsWindow: "Take over", "自分で操作";
    TakeItsWindowTip: "Pause this run and bring its window up for you", "作業を一時停止し、ウィンドウを前面に出す";
    NextForDesktop: "next for the desktop", "次にデスクトップを操作";
    InLineForDesktop: "no. {n} in line for the desktop", "デスクトップの順番待ち（{n}番目）";
    OneQuestion: "1 question", "質問 1件";
    Questions: "{n} questions", "質問 {n}件";
    OneQuestionWaits: "1 question waits", "質問が1件あります";
    QuestionsWait: "{n} questions wait", "質問が{n}件あります";
    OthersAtWork: "+{n} at work", "ほか{n}件が作業中";
    RunsAtWork: "{n} at work elsewhere", "ほかで{n}件が作業中";
    MoreRuns: "and {n} more", "ほか {n}件";
    OtherRuns: "At work elsewhere", "ほかの作業";
    FailsafeHint: "move the pointer to the top left corner to stop", "ポインターを左上の隅に動かすと停止します";

    // steps
    EarlierSteps: "Earlier steps", "以前のステップ";
    BackTo: "Back to “{title}”", "「{title}」に戻る";
    Newest: "Newest", "最新へ";
    You: "You", "あなた";
    Model: "Model", "モデル";
    Thinking: "Thinking", "思考";
    Sources: "Sources", "出典";
    WouldChange: "What would change", "変更内容";
    Arguments: "Exact arguments", "正確な引数";
    Confirmed: "confirmed", "確認済み";
    Unverified: "unverified", "未確認";
    NoChange: "no change", "変化なし";
    Refused: "refused", "拒否";
    Unknown: "unknown", "不明";
    Proposed: "proposed", "予定";
    AsksYou: "asks you", "確認待ち";
    Running: "running", "実行中";
    NotRun: "not run", "未実行";
    EffectConfirmed: "Done, and seen to be done", "実行され、結果を確認しました";
    EffectUnverified: "Sent, but not seen to be done as asked", "送信しましたが、依頼どおりの結果は確認できていません";
    EffectNoChange: "Looked at again: it did not happen", "確認しましたが、反映されていません";
    EffectRefused: "Not done", "実行されませんでした";
    EffectUnknown: "Interrupted: it may or may not have happened", "中断されました。実行されたかどうか分かりません";
    DeniedByYou: "You said no", "あなたが拒否しました";
    NobodyAnswered: "Nobody answered in time", "時間内に返事がありませんでした";
    AllowedByYou: "You allowed it", "あなたが許可しました";
    ChangedByYou: "You changed it", "変更しました";
    AnsweredByYou: "You answered", "あなたが回答";
    HelpParameters: "The agent corrects it by itself", "エージェントが自分で直します";
    HelpFailed: "The agent looks again and tries another way", "エージェントが確かめて別の方法を試します";
    HelpPermission: "Allow it in the system's settings; Settings, This machine says which one", "システムの設定で許可してください。どの許可かは設定の「このマシン」に表示されます";
    HelpNetwork: "Check the connection; the agent tries once more", "接続を確認してください。エージェントがもう一度試します";
    HelpTimeout: "The agent looks at what is there before it tries again", "エージェントは状態を確かめてから再試行します";
    HelpNotAvailable: "The agent uses another tool; Settings, This machine says what is missing", "エージェントは別のツールを使います。不足しているものは設定の「このマシン」に表示されます";
    HelpRefused: "Not done; say to the agent how it should go on", "実行していません。どう進めるかをエージェントに伝えてください";
    HelpUnknown: "Whether it was done is not known: look before you go on", "実行されたかどうか不明です。進む前に確かめてください";
    HadProposed: "The model had proposed:", "モデルの提案：";
    PictureOf: "The screen after {tool}", "{tool} の後の画面";
    PictureOfTarget: "Where {tool} would act, marked on the screen", "{tool} が操作する場所（画面上の印）";
    Enlarge: "Enlarge the picture", "画像を拡大";
    Close: "Close", "閉じる";
    Retry: "Another try follows", "再試行します";
    SuggestedModels: "Models to take instead", "代わりに使えるモデル";
    Use: "Use {model}", "{model} を使う";
    GoOnRun: "Go on with it", "続きから再開";
    UseAndGoOn: "Use {model} and go on", "{model} に切り替えて続ける";

    // costs
    CostAtLeast: "at least ${usd}", "${usd} 以上";
    CostUnknown: "cost unknown", "費用不明";
    Agents: "Agents: {ways}", "エージェント：{ways}";
    AgentsTokens: "Agents: {ways} ({n} tokens)", "エージェント：{ways}（{n} トークン）";
    AgentsCost: "Agents: {ways} (${usd}, {n} tokens)", "エージェント：{ways}（${usd}、{n} トークン）";
    AgentsCompleted: "{n} completed", "{n}件が完了";
    AgentsUnanswered: "{n} needed a yes, and nobody could be asked", "{n}件は許可を求める相手がおらず失敗";
    AgentsCameToNothing: "{n} ended with nothing done", "{n}件は何も行わずに終了";
    AgentsFailed: "{n} failed", "{n}件が失敗";
    AgentsStopped: "{n} stopped", "{n}件が停止";
    Comma: ", ", "、";
    Tokens: "{in} tokens in, {out} out", "入力 {in} トークン、出力 {out} トークン";

    // ends
    BeyondHead: "Files, search, calendar", "ファイル・検索・カレンダー";
    SpaceSetting: "Folder for files and commands", "ファイルとコマンドのフォルダー";
    SpaceSettingNote: "New sessions read and write files, and run commands, in this folder only.", "新しいセッションは、このフォルダーの中だけでファイルを読み書きし、コマンドを実行します。";
    SearchEngine: "Web search", "ウェブ検索";
    SearchEngineNote: "Brave and Google need a key: miki key set brave-search (or google-search).", "Brave と Google にはキーが必要です: miki key set brave-search（または google-search）";
    SearchEngineNone: "Off", "使わない";
    SearchEngineBrave: "Brave Search", "Brave 検索";
    SearchEngineGoogle: "Google Programmable Search", "Google プログラム可能検索";
    SearchEngineSearxng: "SearXNG (your own server)", "SearXNG（自分のサーバー）";
    SearchEngineId: "Google’s engine ID", "Google の検索エンジン ID";
    SearchUrl: "SearXNG’s address", "SearXNG のアドレス";
    SearchUrlNote: "For example http://localhost:8888", "例: http://localhost:8888";
    CalendarUrl: "Calendar server (CalDAV)", "カレンダーサーバー（CalDAV）";
    CalendarUrlNote: "For example https://caldav.icloud.com; its password is under Keys", "例: https://caldav.icloud.com。パスワードは「キー」で設定します";
    CalendarUser: "Calendar user", "カレンダーのユーザー名";
    CalendarUsual: "Calendar for new events", "新しい予定のカレンダー";
    CalendarUsualNote: "By its name; the first one where it is left empty.", "名前で指定します。空欄なら最初のカレンダーです。";
    CommandExits: "The command “{command}” ends with {code}", "コマンド「{command}」が {code} で終わる";
    ReminderThere: "There is the reminder “{title}”", "リマインダー「{title}」がある";
    EventThere: "There is the event “{title}”", "予定「{title}」がある";
    ChooseFolder: "Choose…", "選択…";
    FolderTitle: "Files and commands of this session: {folder}. Click to choose another", "このセッションのファイルとコマンド：{folder}。クリックで変更";
    ServiceKeys: "Search and calendar", "検索とカレンダー";
    CalendarFirst: "First say below where the calendar server is", "先に下でカレンダーサーバーを設定してください";
    CheckSandbox: "Commands' sandbox", "コマンドのサンドボックス";
    TakenBack: "Taken back", "元に戻しました";
    UndoRun: "Take all of it back", "すべて元に戻す";
    WayBackAll: "Undo this run (changes: {n})", "この実行を元に戻す（変更：{n}件）";
    WayBackSome: "Undo this run (changes: {n}; acts that stay: {m})", "この実行を元に戻す（変更：{n}件、そのまま残る操作：{m}件）";
    WayBackNone: "Nothing of it can be undone by Miki (acts that stay: {m})", "Miki で元に戻せるものはありません（そのまま残る操作：{m}件）";
    WayBackGoes: "Goes back to what it was", "元に戻るもの";
    WayBackStays: "Stays as it is: Miki kept nothing to undo it with", "そのまま残るもの（元に戻す手段がありません）";
    WayBackNote: "What somebody else has changed since is left alone, and said.", "その後に別の変更があったものはそのまま残し、お知らせします。";
    ChangedFile: "File {name}", "ファイル {name}";
    ChangedEvent: "Event {name}", "予定 {name}";
    ChangedReminder: "Reminder {name}", "リマインダー {name}";
    ChangedValue: "Value of {name}", "{name} の値";
    ChangedWindow: "Place of the window {name}", "ウィンドウ {name} の位置";
    ChangedClipboard: "The clipboard", "クリップボード";
    MayBeTakenBack: "can perhaps be taken back", "元に戻せる場合があります";
    CanBeTakenBack: "can be taken back", "元に戻せます";
    CannotBeTakenBack: "Miki cannot take it back", "Miki では元に戻せません";
    AndMore: "and {n} more", "ほか{n}件";
    EventCancelled: "called off", "中止";
    ReminderDone: "ticked off", "完了済み";
    Completed: "Done", "完了";
    CameToNothing: "Ended, nothing done", "終了（何も実行されませんでした）";
    SaysModel: "The model says:", "モデルの報告：";
    Acts: "Actions: {done} carried out, {refused} refused", "操作：実行 {done}、拒否 {refused}";
    ActsInDoubt: "Actions: {done} carried out, {refused} refused, {doubt} not seen to work",
        "操作：実行 {done}、拒否 {refused}、効果を確認できず {doubt}";
    Failed: "Failed", "失敗";
    Stopped: "Stopped", "停止しました";
    Interrupted: "Interrupted", "中断されました";
    InterruptedText: "Miki ended in the middle of this run. Look at the screen before you start again.",
        "実行の途中で Miki が終了しました。もう一度始める前に画面を確認してください。";
    NeedsApproval: "Ended unapproved", "未承認で終了";
    NeedsApprovalText: "A question was asked where nobody could answer. Start the run from a window to answer it.",
        "答えられる人がいない場所で確認が求められました。ウィンドウから実行すると答えられます。";
    EndedAgo: "{end} · {age}", "{end}・{age}";

    // approval
    Unconfined: "Nothing confines commands on this computer: this one can do whatever you can.", "このコンピューターではコマンドが隔離されません。このコマンドはあなたにできることを何でも実行できます。";
    RanUnconfined: "not confined", "隔離なし";
    RanConfinedLess: "confined in part", "一部のみ隔離";
    MayI: "May Miki do this?", "実行してもよいですか？";
    Deny: "Deny", "拒否";
    WhyNot: "Why not? (optional)", "拒否する理由（任意）";
    AllowOnce: "Allow once", "一度だけ許可";
    ShowRest: "Show the rest", "続きを表示";
    AllowThread: "Allow {tool}", "{tool} を許可";
    AllowThreadIn: "Allow {tool} in {app}", "{app} での {tool} を許可";
    ChangeArguments: "Change it", "変更する";
    ChangeBack: "Leave it as it was", "元に戻す";
    AskAgain: "Ask again with this", "この内容で確認";
    NoJson: "This is not written as it must be (JSON): {why}", "JSON として読めません: {why}";
    ForHowLong: "For how long", "期間";
    ForRun: "for this run", "この実行の間";
    ForSession: "for this session", "このセッションの間";
    ForDay: "for a day", "1日間";
    ForAlways: "from now on", "今後ずっと";
    RiskObserve: "only looks", "見るだけ";
    RiskNavigate: "moves about", "移動のみ";
    RiskEdit: "changes something", "変更あり";
    RiskConsequential: "cannot be undone", "元に戻せません";
    AskedIn: "In the session", "セッション";
    AskedFor: "for “{goal}”", "（「{goal}」のため）";
    GoesTo: "Goes to: {title} ({app})", "送り先: {title}（{app}）";
    ReadBefore: "It had read before: {list}", "これまでに読んだもの: {list}";
    ReadPages: "pages in the browser", "ブラウザーのページ";
    ReadScreen: "the screen", "画面";
    ReadClipboard: "the clipboard", "クリップボード";
    ReadScript: "a script's output", "スクリプトの出力";
    ReadSearch: "a web search", "ウェブ検索";
    ReadTerminal: "a command’s output", "コマンドの出力";
    ReadAgenda: "calendars and reminders", "カレンダーとリマインダー";
    ReadAgent: "another agent", "別のエージェント";
    ReadEarlier: "earlier in this session", "このセッションの以前の内容";

    // plan
    PlanAsks: "May Miki work by this plan?", "この計画で作業してもよいですか？";
    PlanSays: "What it names runs without further questions. Everything else asks as before.",
        "ここに挙げたことは、これ以上確認せずに実行します。それ以外はこれまでどおり確認します。";
    PlanAllow: "Allow this plan", "この計画を許可";
    PlanAllowChanged: "Allow as changed", "変更どおりに許可";
    PlanPlaces: "Works in", "作業する場所";
    PlanAsksEach: "Nothing is left that may be done without asking: each act will ask.",
        "確認なしにできることが残っていません。操作ごとに確認します。";
    PlanEffects: "May", "してよいこと";
    PlanFolders: "Folders it may change and check", "変更・確認してよいフォルダー";
    PlanChecks: "Done when", "完了の条件";
    PlanBudget: "At most", "上限";
    PlanTurns: "turns", "ターン";
    PlanMinutes: "minutes", "分";
    PlanDollars: "US dollars", "米ドル";
    PlanChanges: "Different from the plan you allowed", "許可済みの計画との違い";
    StrikeOut: "Strike out: {what}", "取り消す: {what}";
    ResultAsks: "Is it done?", "これで完了ですか？";
    ResultYes: "Yes, done", "はい、完了です";
    ResultTake: "Accept as it is", "このまま受け入れる";
    ResultNot: "Not yet", "まだ";
    ThePlan: "Plan", "計画の結果";
    CheckPassed: "passed", "合格";
    CheckOpen: "not asked", "未確認";
    CheckFailed: "failed", "不合格";
    DeviationAllowed: "Outside the plan, allowed by you: {tool} ({outside})", "計画外、あなたが許可: {tool}（{outside}）";
    DeviationDenied: "Outside the plan, not allowed: {tool} ({outside})", "計画外、許可されず: {tool}（{outside}）";
    DeviationOpen: "Outside the plan, not answered: {tool} ({outside})", "計画外、未回答: {tool}（{outside}）";
    EffectEdit: "change things", "編集";
    EffectClipboard: "use the clipboard", "クリップボードの使用";
    EffectBrowse: "browse and enter text", "閲覧と入力";
    EffectRun: "run commands", "コマンドの実行";
    EffectSend: "send", "送信";
    EffectSubmit: "submit forms", "フォームの送信";
    EffectPublish: "publish", "公開";
    EffectDelete: "delete", "削除";
    EffectPay: "pay", "支払い";
    EffectSign: "sign", "署名";
    EffectInstall: "install", "インストール";
    EffectSystem: "change the system", "システムの変更";
    EffectRemote: "use another computer", "別のコンピューターの操作";
    EffectPasswords: "use the password manager", "パスワード管理ソフトの操作";
    FileExists: "{path} exists", "{path} がある";
    FileContains: "{path} contains “{text}”", "{path} に「{text}」が含まれる";
    FileHash: "{path} has the SHA-256 {sha256}", "{path} の SHA-256 が {sha256}";
    WindowThere: "{app} has a window", "{app} のウィンドウがある";
    WindowTitled: "{app} has a window titled “{title}”", "{app} に「{title}」というウィンドウがある";
    ElementThere: "{app} shows “{name}”", "{app} に「{name}」が表示されている";
    ElementValue: "“{name}” in {app} is “{value}”", "{app} の「{name}」が「{value}」である";
    PageAt: "the page in front is {address}", "前面のページが {address} である";
    PageSays: "the page in front says “{text}”", "前面のページに「{text}」とある";
    YouSayYes: "you say yes to: {question}", "あなたが「はい」と答える: {question}";

    // chat
    ChatTitle: "Ask Miki", "Miki に頼む";
    ChatAway: "The keyboard is elsewhere: click here or press the shortcut to type", "キーボードは別のウィンドウにあります。入力するにはここをクリックするかショートカットを押してください";
    ChatHint: "Enter runs · Shift+Enter new line · ↑ earlier goals · Esc hides", "Enter で実行 · Shift+Enter で改行 · ↑ で以前の目標 · Esc で隠す";
    ChatExamples: "For example", "たとえば";
    Example1: "Write a haiku about autumn into the editor and save it", "エディターに秋の俳句を書いて保存して";
    Example2: "Which windows are open, and what is in them?", "開いているウィンドウとその内容を教えて";
    Example3: "Rename the files on the desktop by their date", "デスクトップのファイルを日付で名前変更して";
    New: "New", "新規";
    OpenDashboard: "Open the dashboard", "ダッシュボードを開く";

    // settings
    FirstRun: "Welcome. Miki needs a key for its model before it can work: paste one below, and it stays in your system's keychain.",
        "ようこそ。Miki が働くにはモデルのキーが必要です。下に貼り付けると、システムのキーチェーンに保存されます。";
    Keys: "Keys", "キー";
    KeyPlaceholder: "Paste a key", "キーを貼り付け";
    Save: "Save", "保存";
    Delete: "Delete", "削除";
    KeyElsewhere: "This key was set for {old}. It is not sent to {new}, the address that you have given since.", "このキーは {old} 用に設定されたものです。その後に指定された {new} には送られません。";
    MoveKey: "Send it to {new} from now on", "今後は {new} に送る";
    KeyStays: "What you typed is still in the field: Save tries again.", "入力したキーは欄に残っています。「保存」でもう一度試せます。";
    KeyMissing: "No key yet", "キーがありません";
    KeyInKeychain: "In the keychain", "キーチェーンにあります";
    KeyInEnvironment: "From the environment", "環境変数から取得";
    KeyKeychainFails: "The keychain does not work", "キーチェーンが使えません";
    ModelGroup: "Model", "モデル";
    ModelId: "Model", "モデル";
    ModelIdNote: "provider/id", "プロバイダー/ID";
    ChooseFrom: "Choose from", "選択元";
    ChooseFromNote: "dollars a million tokens: in / out", "100万トークンあたりのドル: 入力 / 出力";
    FilterModels: "Type to filter", "入力して絞り込む";
    AskProvider: "Get {name}’s list", "{name} の一覧を取得";
    PricesOf: "prices of {date}", "{date} 時点の価格";
    MoreModels: "{n} more: type to filter", "ほか {n} 件: 入力して絞り込む";
    NoModels: "No list here: get the provider’s, or write the model's id above",
        "一覧がありません。プロバイダーから取得するか、上に ID を入力してください";
    PriceUnknown: "price unknown", "価格不明";
    TokensOfContext: "takes {n} tokens", "最大 {n} トークン";
    MoreForLong: "more for long requests", "長い要求は割増";
    CanTools: "tools", "ツール";
    CanPictures: "pictures", "画像";
    CanThinking: "thinking", "思考";
    Cannot: "no {what}", "{what}なし";
    TryModel: "Try the model", "モデルを試す";
    TryModelNote: "one tiny turn with a tool and a picture, on your account",
        "ツールと画像を使う小さな一回のやり取り。料金がかかります";
    Test: "Test", "テスト";
    Testing: "Asking", "問い合わせ中";
    TrialWorks: "{what} work", "{what}: 動作します";
    TrialFails: "{what} do not work", "{what}: 動作しません";
    TrialTime: "{first} to the first word, {whole} in all", "最初の応答まで {first}、合計 {whole}";
    CustomWire: "Protocol", "プロトコル";
    WireChat: "Chat Completions", "Chat Completions 方式";
    WireResponses: "OpenAI Responses", "OpenAI Responses 方式";
    WireAnthropic: "Anthropic Messages", "Anthropic Messages 方式";
    WireGemini: "Gemini", "Gemini 方式";
    WireOllama: "Ollama", "Ollama 方式";
    CustomHeaders: "Headers", "ヘッダー";
    CustomHeadersNote: "JSON, without keys: {\"x-team\":\"mine\"}", "JSON。キーは書かないでください: {\"x-team\":\"mine\"}";
    CustomKeyHeader: "The key's header", "キーを送るヘッダー";
    CustomKeyHeaderNote: "For example api-key; empty: as the protocol has it", "例: api-key。空欄ならプロトコルの標準";
    BaseUrl: "Base URL", "ベース URL";
    BaseUrlNote: "https, or http on this machine only", "https、またはこのマシン上の http のみ";
    ApiVersion: "API version", "API バージョン";
    ApiVersionNote: "v1beta is tried where this one is refused", "拒否された場合は v1beta を試します";
    MediaResolution: "Resolution of pictures", "画像の解像度";
    MediaResolutionNote: "280, 560, 1120 or 2240 tokens a picture", "画像1枚につき 280、560、1120、2240 トークン";
    ResolutionUsual: "As the model has it", "モデルの標準";
    ResolutionLow: "Low", "低";
    ResolutionMedium: "Medium", "中";
    ResolutionHigh: "High", "高";
    ResolutionHighest: "Highest", "最高";
    MaxOutput: "Longest answer", "回答の最大長";
    MaxOutputNote: "In tokens; 0: as the provider has it", "トークン数。0 なら提供元の標準";
    OllamaContext: "Kept in view", "保持する範囲";
    OllamaContextNote: "In tokens; 0: 32768. More takes more memory", "トークン数。0 なら 32768。多いほどメモリーを使います";
    VendorTools: "This model's own computer tools", "このモデル独自のコンピューター操作ツール";
    VendorToolsNote: "In place of Miki's mouse, keyboard and screenshots, where the vendor has them (Anthropic, OpenAI, Gemini 3.5 Flash); costs more tokens",
        "提供元にある場合（Anthropic、OpenAI、Gemini 3.5 Flash）、Miki のマウス・キーボード・スクリーンショットの代わりに使います。トークンを多く使います";
    RunGroup: "Runs", "実行";
    MaxSteps: "Most steps", "最大ステップ数";
    AgentAsks: "An agent asks you", "エージェントからの質問";
    ServerAsks: "The server {server} asks you", "サーバー「{server}」からの質問";
    ServerAsked: "The server {server} asked", "サーバー「{server}」の質問";
    ServerGets: "What you answer goes to this server. Give it no passwords.", "回答はこのサーバーに送られます。パスワードは入力しないでください。";
    MayBeLeftOut: "may be left empty", "空欄でも構いません";
    LeaveOut: "Leave it out", "指定しない";
    LeftOut: "left out", "指定なし";
    WaitsForAnswer: "waits for your answer", "回答待ち";
    NotAnswered: "You gave no answer", "回答しませんでした";
    Yes: "Yes", "はい";
    No: "No", "いいえ";
    WholeNumber: "a whole number", "整数";
    ANumber: "a number", "数値";
    TooShort: "That is too short: {n} characters at least", "短すぎます（{n} 文字以上）";
    TooLong: "That is too long: {n} characters at most", "長すぎます（{n} 文字以内）";
    NotYesOrNo: "Answer yes or no", "「はい」か「いいえ」で答えてください";
    NoWholeNumber: "That is no whole number", "整数ではありません";
    NoNumber: "That is no number", "数値ではありません";
    OutOfBounds: "That is out of its bounds", "範囲外の値です";
    NoChoice: "{answer} is none of the choices", "「{answer}」は選択肢にありません";
    NoAnswer: "No answer", "回答しない";
    GiveAnswer: "Answer", "回答する";
    YourAnswer: "Your answer", "あなたの回答";
    ShowAgent: "Show what it does", "作業内容を表示";
    TheAgentAbove: "From the agent that it works for", "依頼元のエージェントから";
    AgentsOf: "Agents that work for it", "このセッションのために働くエージェント";
    AgentChildren: "Agents at work for one agent", "1 つのエージェントのために働くエージェント数";
    AgentChildrenNote: "An agent may start others that work for it, within what it may use itself.", "エージェントは、自分の上限の範囲内で、自分のために働く別のエージェントを起動できます。";
    AgentDepth: "Agents above each other", "エージェントの階層の深さ";
    AgentDepthNote: "1: agents start no others.", "1 にすると、エージェントは別のエージェントを起動しません。";
    AgentsInAll: "Agents started by agents, in all", "エージェントが起動したエージェントの総数";
    CarryOn: "Go on after a restart", "再起動後に続行する";
    CarryOnNote: "A run that Miki ended in the middle of goes on by itself when Miki starts again. It looks at the screen first, and asks as before.", "Miki が途中で終了した実行を、次回の起動時に自動で続けます。はじめに画面を確認し、許可はこれまでどおり求めます。";
    AgentModel: "Model of agents started by agents", "エージェントが起動するエージェントのモデル";
    AgentModelNote: "Empty: the model of the one that starts them.", "空欄の場合は、起動したエージェントと同じモデルを使います。";
    MaxStepsNote: "Of a run. Where one of these bounds is reached, the run pauses and asks whether it may have as much again.", "1 回の実行あたり。上限に達すると一時停止し、同じだけ続けてよいかを確認します。";
    MaxMinutes: "Most minutes", "最大時間（分）";
    MaxTokens: "Most tokens", "最大トークン数";
    BoundNote: "Of a run. 0: no bound.", "1 回の実行あたり。0 は上限なし。";
    MaxCost: "Most US dollars", "最大費用（米ドル）";
    MaxCostNote: "Of a run, for example 0.50, as far as prices are known. 0: no bound.", "1 回の実行あたり（例：0.50）。料金が分かる範囲で数えます。0 は上限なし。";
    StepDelay: "Pause between steps", "ステップ間の待ち時間";
    StepDelayNote: "milliseconds, so that you can follow and step in", "ミリ秒。見守って止められるように";
    ApprovalNote: "Calls that cannot be undone are asked each time, unless nothing asks",
        "元に戻せない操作は、確認しない設定でない限り毎回確認します";
    PlanSetting: "Plans", "計画";
    PlanSettingNote: "Miki may propose a plan first; what you allow in it is not asked again", "先に計画を提案します。許可した範囲は再度確認しません";
    Quality: "Picture quality", "画質";
    QualityNote: "JPEG, 20 to 100", "JPEG、20〜100";
    Notifications: "Notifications", "通知";
    NotificationsNote: "The system tells of a question while none of the windows has the keyboard",
        "どのウィンドウも操作していないときに、確認をシステムの通知で知らせます";
    PlacesGroup: "Where Miki may act", "操作できる場所";
    OnlyApps: "Only act in", "操作を許可するアプリ";
    OnlyAppsNote: "Parts of names, with commas between them; empty for all applications",
        "アプリ名の一部をカンマ区切りで。空欄ならすべてのアプリ";
    NeverApps: "Never act in", "操作しないアプリ";
    NeverAppsNote: "Miki does nothing in these, whatever it is told or allowed", "指示や許可があっても、これらのアプリは操作しません";
    AskApps: "Always ask in", "毎回確認するアプリ";
    AskAppsNote: "Each act there is asked about, in every approval mode", "承認モードにかかわらず、操作のたびに確認します";
    Grants: "Allowed for longer", "継続して許可した操作";
    GrantsNote: "What you allowed beyond a session. It counts in runs that ask once for a tool",
        "セッションを越えて許可した操作。ツールごとに一度確認する実行で有効です";
    NoGrants: "Nothing", "なし";
    GrantOf: "{tool} in {app}", "{app} での {tool}";
    GrantUntil: "until {time}", "{time} まで";
    GrantAlways: "from now on", "今後ずっと";
    AllowedHere: "Allowed without asking: {n}", "確認なしで許可中: {n}件";
    TakeBack: "Take back", "取り消す";

    Connections: "Connections (MCP)", "接続 (MCP)";
    NoServers: "No server is connected. Connect one on the command line, where what it runs is shown first:",
        "接続されたサーバーはありません。実行内容が先に表示されるコマンドラインで接続してください:";
    ServerOff: "Off", "オフ";
    ServerIdle: "Started when it is needed", "必要なときに起動";
    ServerConnected: "Connected", "接続中";
    ServerFailed: "Cannot be used now", "現在使えません";
    ServerTools: "Tools: {n}", "ツール: {n}件";
    ServerPrompts: "Prompts: {n}", "プロンプト: {n}件";
    UsePrompt: "Use as a goal", "依頼に使う";
    OptionalBlank: "(optional)", "（任意）";
    ServerUnconfined: "Not in the sandbox: it may do whatever you may do", "サンドボックス外: あなたと同じ操作ができます";
    ServerLog: "What it said last", "最近のログ";
    TestServer: "Test", "テスト";
    SwitchOn: "Switch on", "オンにする";
    SwitchOff: "Switch off", "オフにする";
    RemoveServer: "Remove", "削除";
    ToolUnused: "Not used", "使わない";
    ToolAnything: "Asked each time", "毎回確認する";
    ToolEdits: "Can be allowed for a session", "セッション中の許可ができる";
    ToolLooks: "Never asked", "確認しない";
    ToolChanged: "It changed since you agreed to it", "同意後に内容が変わりました";
    GuestsHead: "Programs that use Miki (MCP)", "Mikiを使っているプログラム (MCP)";
    GuestsNote: "Named as they call themselves. A program that is stopped can come again when you start it anew.",
        "名前はプログラム自身が名乗ったものです。停止したプログラムは、再び起動すると接続できます。";
    NoGuests: "No other program uses Miki now. One that has Miki in its configuration stands here from its first call on:",
        "現在Mikiを使っているプログラムはありません。設定にMikiがあるプログラムは、最初の呼び出しからここに表示されます:";
    GuestDesktop: "Sees and uses the desktop", "デスクトップの閲覧と操作";
    GuestAgents: "Gives goals to Miki’s agents", "Mikiのエージェントに目標を指示";
    GuestStdio: "has started its connection itself", "プログラム自身が起動した接続";
    GuestHttp: "over HTTP on this machine", "このコンピューター内のHTTP接続";
    GuestSince: "since {time}", "{time}から";
    GuestStop: "Stop {client}", "{client} を停止";
    Failsafe: "Failsafe corner", "緊急停止の隅";
    FailsafeNote: "The pointer in the top left corner, or Escape held for a second, stops everything",
        "ポインターを左上の隅に動かすか、Escを1秒押し続けるとすべて停止します";
    PauseOnInput: "Pause when I step in", "操作したら一時停止";
    OwnHands: "A pointer of its own", "専用のポインター";
    OwnHandsNote: "Agents click and type beside you, where the system has that (X11); a program that they start still comes to the front", "対応するシステム（X11）では、エージェントは専用のポインターとキーボードで操作します。起動したアプリは前面に出ます";
    PauseOnInputNote: "Your own mouse or keyboard pauses the run", "マウスやキーボードを使うと実行を一時停止します";
    AppGroup: "Application", "アプリケーション";
    Shortcut: "Chat shortcut", "チャットのショートカット";
    ShortcutNote: "for example CmdOrCtrl+Shift+Space", "例: CmdOrCtrl+Shift+Space";
    Theme: "Theme", "テーマ";
    ThemeSystem: "As the system", "システムに合わせる";
    ThemeLight: "Light", "ライト";
    ThemeDark: "Dark", "ダーク";
    CustomPrompt: "Your words to every run", "すべての実行への指示";
    CustomPromptNote: "Told to the model as your own words: how you like things done, what to call you",
        "あなた自身の言葉としてモデルに伝えます：好みのやり方や呼び方など";
    AnswerLanguage: "Language of answers", "回答の言語";
    AnswerLanguageNote: "A tag such as ja or pt-BR; empty: as you write", "ja や pt-BR などのタグ。空欄なら入力と同じ言語";
    TimeZone: "Time zone", "タイムゾーン";
    TimeZoneNote: "For example Asia/Tokyo; empty: the system's", "例: Asia/Tokyo。空欄ならシステムの設定";
    DeletedDays: "Days a deleted session can be restored", "削除したセッションを復元できる日数";
    PictureDays: "Keep pictures of steps, in days", "ステップの画像を残す日数";
    PictureMegabytes: "Keep pictures of steps, in MB", "ステップの画像を残す容量（MB）";
    KeptNote: "0 keeps all", "0 ならすべて残します";
    Language: "Language", "言語";
    English: "English", "英語 (English)";
    Japanese: "Japanese (日本語)", "日本語";
    Saved: "Saved", "保存しました";

    // checks
    Checks: "This machine", "このマシン";
    CheckAgain: "Check again", "もう一度確認";
    Checking: "Checking", "確認中";
    OpenSettings: "Open settings", "設定を開く";
    Well: "well", "良好";
    Limited: "limited", "制限あり";
    Missing: "missing", "ありません";
    CheckDisplay: "Display", "ディスプレイ";
    CheckScreenCapture: "Screen capture", "画面の取得";
    CheckInput: "Mouse and keyboard", "マウスとキーボード";
    CheckAccessibility: "Accessibility", "アクセシビリティ";
    CheckAutomation: "Automation", "オートメーション";
    CheckInputMonitoring: "Input monitoring", "入力監視";
    CheckClipboard: "Clipboard", "クリップボード";
    CheckOcr: "Text in pictures", "画像の文字";
    CheckKeychain: "Keychain", "キーチェーン";
    CheckSettings: "Settings file", "設定ファイル";
    CheckJournal: "Journal", "ジャーナル";
    CheckModel: "Model", "モデル接続";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The `{names}` a text has places for.
    fn places(text: &str) -> BTreeSet<&str> {
        text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name).collect()
    }

    #[test]
    fn every_word_is_said_in_both_languages() {
        for word in Word::ALL {
            let (en, ja) = (word.tell(Language::English), word.tell(Language::Japanese));
            assert!(!en.trim().is_empty() && !ja.trim().is_empty(), "{word:?}");
            assert!(en != ja, "{word:?} is not translated");
            assert!(!ja.is_ascii(), "{word:?} has no Japanese");
        }
    }

    #[test]
    fn both_languages_have_the_same_places_to_fill() {
        for word in Word::ALL {
            let (en, ja) = (word.tell(Language::English), word.tell(Language::Japanese));
            assert_eq!(places(en), places(ja), "{word:?}");
        }
    }

    #[test]
    fn a_value_takes_its_place() {
        let said = Word::StepOf.fill(Language::Japanese, &[("n", "3"), ("max", "30")]);
        assert_eq!(said, "ステップ 3/30");
    }
}
